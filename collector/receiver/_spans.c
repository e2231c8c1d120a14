/* Spans off the wire: a serialized ExportTraceServiceRequest -> the list of its spans.

   What is usual is read here, a tenth of the time that `collector.receiver.protobuf` takes. For anything else (fields out
   of order or twice, texts that are not UTF-8, ids of a wrong length, broken bytes) the answer is None, and the request
   is decoded in Python, which is the reference. Nothing is kept between calls but attributes that recur. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>
#include <structmember.h>

#include "_wire.h"
#include "_attributes.h"

/* ---- What Python gives: see `configure` ---- */

enum { TRACE_ID, SPAN_ID, PARENT_ID, NAME, KIND, START, END, ATTRIBUTES, RESOURCE, SCOPE, FLAGS, STATUS,
       STATUS_MESSAGE, EVENTS, LINKS, DROPPED_ATTRIBUTES, DROPPED_EVENTS, SPAN_FIELDS };
static const char *const span_fields[SPAN_FIELDS] = {
    "trace_id", "span_id", "parent_id", "name", "kind", "start", "end", "attributes", "resource", "scope", "flags",
    "status", "status_message", "events", "links", "dropped_attributes", "dropped_events"};

static struct {
    PyTypeObject *span;
    Py_ssize_t offsets[SPAN_FIELDS]; /* of the slots of a span */
    PyObject *resource, *scope, *event, *link;
} given;
static PyObject *empty_bytes, *empty_text, *nothing;

/* ---- Messages: NULL for one that is not usual, with an error set or without ---- */

static PyObject *read_event(Wire wire) {
    PyObject *attributes = PyDict_New(), *name = Py_NewRef(empty_text), *event = NULL;
    uint64_t time = 0;
    Field field;
    int more = -1, names = 0;
    while (attributes != NULL && (more = read_field(&wire, &field)) > 0) {
        if (field.number == 1 && field.type == 1) time = field.value;
        else if (field.number == 2 && field.type == 2 && names++ == 0) Py_SETREF(name, text(field.bytes));
        else if (field.number == 3 && field.type == 2) more = put_attribute(attributes, field.bytes);
        else if (field.number <= 3) more = -1;
        if (more < 0 || name == NULL) break;
    }
    if (more == 0 && name != NULL) {
        PyObject *at = PyLong_FromUnsignedLongLong(time);
        if (at != NULL) event = PyObject_CallFunctionObjArgs(given.event, name, at, attributes, NULL);
        Py_XDECREF(at);
    }
    Py_XDECREF(name);
    Py_XDECREF(attributes);
    return event;
}

static PyObject *read_link(Wire wire) {
    PyObject *attributes = PyDict_New(), *ids[2] = {Py_NewRef(empty_bytes), Py_NewRef(empty_bytes)}, *link = NULL;
    Field field;
    int more = -1, seen[2] = {0, 0};
    while (attributes != NULL && (more = read_field(&wire, &field)) > 0) {
        if (field.number <= 2 && field.type == 2 && seen[field.number - 1]++ == 0) {
            Py_SETREF(ids[field.number - 1], bytes(field.bytes));
            if (ids[field.number - 1] == NULL) more = -1;
        } else if (field.number == 4 && field.type == 2) more = put_attribute(attributes, field.bytes);
        else if (field.number <= 2 || field.number == 4) more = -1;
        if (more < 0) break;
    }
    if (more == 0) link = PyObject_CallFunctionObjArgs(given.link, ids[0], ids[1], attributes, NULL);
    Py_XDECREF(ids[0]);
    Py_XDECREF(ids[1]);
    Py_XDECREF(attributes);
    return link;
}

static int append(PyObject **list, PyObject *element) {
    if (element == NULL) return -1;
    if (*list == NULL && (*list = PyList_New(0)) == NULL) {
        Py_DECREF(element);
        return -1;
    }
    int done = PyList_Append(*list, element);
    Py_DECREF(element);
    return done;
}

/* What is read of a span before it is made. */
typedef struct {
    Wire trace_id, span_id, parent_id, name, message;
    uint64_t kind, start, end, dropped_attributes, dropped_events, code, flags;
    uint32_t seen;
    PyObject *attributes, *events, *links;
} Parts;

static int read_status(Wire wire, Parts *parts) {
    Field field;
    int more, seen = 0;
    while ((more = read_field(&wire, &field)) > 0) {
        if (field.number == 2 && field.type == 2 && !(seen & 1)) parts->message = field.bytes, seen |= 1;
        else if (field.number == 3 && field.type == 0 && !(seen & 2) && field.value < 128)
            parts->code = field.value, seen |= 2;
        else if (field.number == 2 || field.number == 3) return -1;
    }
    return more;
}

static int read_part(const Field *field, Parts *parts) {
    static const uint32_t types[17] = {9, 2, 2, 2, 2, 2, 0, 1, 1, 2, 0, 2, 0, 2, 0, 2, 5};
    uint32_t number = field->number;
    if (number > 16 || number == 14) return 0; /* not known: passed over */
    if (number != 3 && types[number] != field->type) return -1;
    if (number == 9) return put_attribute(parts->attributes, field->bytes);
    if (number == 11) return append(&parts->events, read_event(field->bytes));
    if (number == 13) return append(&parts->links, read_link(field->bytes));
    if (parts->seen & 1u << number) return number == 3 ? 0 : -1;
    parts->seen |= 1u << number;
    switch (number) {
    case 1: parts->trace_id = field->bytes; return 0;
    case 2: parts->span_id = field->bytes; return 0;
    case 4: parts->parent_id = field->bytes; return 0;
    case 5: parts->name = field->bytes; return 0;
    case 6: parts->kind = field->value; return field->value < 128 ? 0 : -1;
    case 7: parts->start = field->value; return 0;
    case 8: parts->end = field->value; return 0;
    case 10: parts->dropped_attributes = field->value; return field->value >> 32 ? -1 : 0;
    case 12: parts->dropped_events = field->value; return field->value >> 32 ? -1 : 0;
    case 15: return read_status(field->bytes, parts);
    case 16: parts->flags = field->value; return 0;
    default: return 0;
    }
}

static inline void set(PyObject *span, int field, PyObject *value) {
    *(PyObject **)((char *)span + given.offsets[field]) = value;
}

static PyObject *read_span(Wire wire, PyObject *resource, PyObject *scope, PyObject **last_trace) {
    static const uint8_t none[1];
    const Wire empty = {none, none};
    Parts parts = {empty, empty, empty, empty, empty, 0, 0, 0, 0, 0, 0, 0, 0, PyDict_New(), NULL, NULL};
    PyObject *span = NULL, *made[SPAN_FIELDS] = {NULL};
    Field field;
    int more = -1;
    while (parts.attributes != NULL && (more = read_field(&wire, &field)) > 0)
        if ((more = read_part(&field, &parts)) < 0) break;
    Py_ssize_t parent = length(parts.parent_id);
    if (more != 0 || length(parts.trace_id) != 16 || length(parts.span_id) != 8 || (parent != 0 && parent != 8) ||
        all_zero(parts.trace_id) || all_zero(parts.span_id))
        goto done;
    if (PyBytes_GET_SIZE(*last_trace) != 16 || memcmp(PyBytes_AS_STRING(*last_trace), parts.trace_id.at, 16) != 0) {
        PyObject *id = bytes(parts.trace_id);
        if (id == NULL) goto done;
        Py_SETREF(*last_trace, id);
    }
    made[TRACE_ID] = Py_NewRef(*last_trace);
    made[SPAN_ID] = bytes(parts.span_id);
    made[PARENT_ID] = all_zero(parts.parent_id) ? Py_NewRef(empty_bytes) : bytes(parts.parent_id);
    made[NAME] = key_of(parts.name);
    made[KIND] = PyLong_FromUnsignedLongLong(parts.kind);
    made[START] = PyLong_FromUnsignedLongLong(parts.start);
    made[END] = PyLong_FromUnsignedLongLong(parts.end);
    made[ATTRIBUTES] = Py_NewRef(parts.attributes);
    made[RESOURCE] = Py_NewRef(resource);
    made[SCOPE] = Py_NewRef(scope);
    made[FLAGS] = PyLong_FromUnsignedLongLong(parts.flags);
    made[STATUS] = PyLong_FromUnsignedLongLong(parts.code);
    made[STATUS_MESSAGE] = text(parts.message);
    made[EVENTS] = Py_NewRef(parts.events == NULL ? nothing : parts.events);
    made[LINKS] = Py_NewRef(parts.links == NULL ? nothing : parts.links);
    made[DROPPED_ATTRIBUTES] = PyLong_FromUnsignedLongLong(parts.dropped_attributes);
    made[DROPPED_EVENTS] = PyLong_FromUnsignedLongLong(parts.dropped_events);
    for (int each = 0; each < SPAN_FIELDS; each++)
        if (made[each] == NULL) goto done;
    span = given.span->tp_alloc(given.span, 0);
    if (span == NULL) goto done;
    for (int each = 0; each < SPAN_FIELDS; each++) {
        set(span, each, made[each]);
        made[each] = NULL;
    }
done:
    for (int each = 0; each < SPAN_FIELDS; each++) Py_XDECREF(made[each]);
    Py_XDECREF(parts.attributes);
    Py_XDECREF(parts.events);
    Py_XDECREF(parts.links);
    return span;
}

static PyObject *read_resource(Wire wire) {
    PyObject *attributes = PyDict_New(), *resource = NULL;
    Field field;
    int more = -1;
    while (attributes != NULL && (more = read_field(&wire, &field)) > 0) {
        if (field.number == 1) more = field.type == 2 ? put_attribute(attributes, field.bytes) : -1;
        if (more < 0) break;
    }
    if (more == 0) resource = PyObject_CallOneArg(given.resource, attributes);
    Py_XDECREF(attributes);
    return resource;
}

static PyObject *read_scope(Wire wire) {
    PyObject *attributes = PyDict_New(), *scope = NULL;
    PyObject *texts[2] = {Py_NewRef(empty_text), Py_NewRef(empty_text)};
    Field field;
    int more = -1, seen[2] = {0, 0};
    while (attributes != NULL && (more = read_field(&wire, &field)) > 0) {
        if (field.number <= 2) {
            if (field.type != 2 || seen[field.number - 1]++) more = -1;
            else Py_SETREF(texts[field.number - 1], text(field.bytes));
            if (texts[field.number - 1] == NULL) more = -1;
        } else if (field.number == 3) more = field.type == 2 ? put_attribute(attributes, field.bytes) : -1;
        if (more < 0) break;
    }
    if (more == 0) scope = PyObject_CallFunctionObjArgs(given.scope, texts[0], texts[1], attributes, NULL);
    Py_XDECREF(texts[0]);
    Py_XDECREF(texts[1]);
    Py_XDECREF(attributes);
    return scope;
}

/* A message whose field 1 comes at most once, and before its field 2s: made by `shared`, it is handed to each. */
typedef int (*Each)(Wire, PyObject *shared, void *more);
typedef PyObject *(*Shared)(Wire);

static int read_group(Wire wire, Shared shared_of, Each each, void *more_of) {
    static const uint8_t none[1];
    PyObject *shared = NULL;
    Field field;
    int more;
    while ((more = read_field(&wire, &field)) > 0) {
        if (field.number > 2) continue;
        if (field.type != 2 || (field.number == 1 && shared != NULL)) more = -1;
        else if (shared == NULL) {
            shared = shared_of(field.number == 1 ? field.bytes : (Wire){none, none});
            if (shared == NULL) more = -1;
        }
        if (more > 0 && field.number == 2) more = each(field.bytes, shared, more_of);
        if (more < 0) break;
    }
    Py_XDECREF(shared);
    return more;
}

typedef struct {
    PyObject *spans, *last_trace, *resource;
} Reading;

static int add_span(Wire wire, PyObject *scope, void *more) {
    Reading *reading = more;
    PyObject *span = read_span(wire, reading->resource, scope, &reading->last_trace);
    if (span == NULL) return -1;
    int done = PyList_Append(reading->spans, span);
    Py_DECREF(span);
    return done;
}

static int add_scope(Wire wire, PyObject *resource, void *more) {
    Reading *reading = more;
    reading->resource = resource;
    return read_group(wire, read_scope, add_span, reading);
}

static PyObject *spans(PyObject *module, PyObject *body) {
    Py_buffer buffer;
    if (given.span == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "configure() comes first");
        return NULL;
    }
    if (PyObject_GetBuffer(body, &buffer, PyBUF_SIMPLE) < 0) return NULL;
    Wire wire = {buffer.buf, (const uint8_t *)buffer.buf + buffer.len};
    Reading reading = {PyList_New(0), Py_NewRef(empty_bytes), NULL};
    Field field;
    int more = -1;
    while (reading.spans != NULL && (more = read_field(&wire, &field)) > 0) {
        if (field.number == 1) more = field.type == 2 ? read_group(field.bytes, read_resource, add_scope, &reading) : -1;
        if (more < 0) break;
    }
    PyBuffer_Release(&buffer);
    Py_DECREF(reading.last_trace);
    if (more == 0) return reading.spans;
    Py_XDECREF(reading.spans);
    if (PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_Exception) || PyErr_ExceptionMatches(PyExc_MemoryError)) return NULL;
        PyErr_Clear();
    }
    Py_RETURN_NONE;
}

/* ---- The module ---- */

static int take_offsets(PyTypeObject *type) {
    for (int field = 0; field < SPAN_FIELDS; field++) {
        PyObject *slot = PyDict_GetItemString(type->tp_dict, span_fields[field]);
        if (slot == NULL || !Py_IS_TYPE(slot, &PyMemberDescr_Type)) {
            PyErr_Format(PyExc_TypeError, "Span has no slot %s", span_fields[field]);
            return -1;
        }
        given.offsets[field] = ((PyMemberDescrObject *)slot)->d_member->offset;
    }
    return 0;
}

static PyObject *configure(PyObject *module, PyObject *args, PyObject *named) {
    static char *names[] = {"span", "resource", "scope", "event", "link", "decode_value", "decode_pair", NULL};
    if (!PyArg_ParseTupleAndKeywords(args, named, "$O!OOOOOO:configure", names, &PyType_Type, &given.span,
                                     &given.resource, &given.scope, &given.event, &given.link, &in_python.value,
                                     &in_python.pair) ||
        take_offsets(given.span) < 0) {
        memset(&given, 0, sizeof given);
        return NULL;
    }
    PyObject *const constants[] = {(PyObject *)given.span, given.resource, given.scope, given.event, given.link,
                                   in_python.value, in_python.pair};
    for (size_t each = 0; each < sizeof constants / sizeof *constants; each++) Py_INCREF(constants[each]);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"configure", (PyCFunction)(void (*)(void))configure, METH_VARARGS | METH_KEYWORDS, NULL},
    {"spans", spans, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_spans", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__spans(void) {
    empty_bytes = PyBytes_FromStringAndSize(NULL, 0);
    empty_text = PyUnicode_FromString("");
    nothing = PyTuple_New(0);
    PyObject *chance = PyUnicode_FromString("spanbar"); /* its hash is another in every process */
    if (empty_bytes == NULL || empty_text == NULL || nothing == NULL || chance == NULL) return NULL;
    seed = (uint64_t)PyObject_Hash(chance) ^ (uint64_t)(uintptr_t)&seed;
    Py_DECREF(chance);
    return PyModule_Create(&definition);
}
