/* The item of a plain call: the attributes of a tool span in the hangar vocabulary -> its item, with its call.

   What is usual is done here, a sixth of the time that `collector.assembly.plain` takes. For anything else (arguments or
   results that are JSON, columns of another type than theirs, MCP tools) the answer is None, and the item is made in
   Python, which is the reference. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stddef.h>
#include <string.h>

/* ---- What Python gives: see `configure` ---- */

enum { TOOL_NAME, ARGUMENTS, RESULT, INPUT, OUTPUT, SEQ, TURN, TOOL_KIND, OPS, PATH, OP, MCP_SERVER, MCP_TOOL, SKILL,
       TRUSTED, TOTAL, COMPLETE, ATTRIBUTE_KEYS };

enum { ITEM_FIELDS = 24, CALL_FIELDS = 13 };

static struct {
    PyTypeObject *item, *call;
    PyObject *keys[ATTRIBUTE_KEYS];
    PyObject *tool_kinds, *tool, *other, *ok_status, *ok_text, *convention, *source, *no_arguments, *no_result, *redacted;
} given;
static PyObject *nothing;

/* ---- The item of a plain call ---- */

/* An attribute, borrowed; NULL where there is none or it is null. */
static inline PyObject *attribute(PyObject *attributes, int key) {
    PyObject *value = PyDict_GetItemWithError(attributes, given.keys[key]);
    return value == Py_None ? NULL : value;
}

static inline int is_text_or_none(PyObject *value) { return value == NULL || PyUnicode_CheckExact(value); }

static inline int is_integer_or_none(PyObject *value) { return value == NULL || PyLong_CheckExact(value); }

static inline PyObject *or_none(PyObject *value) { return value == NULL ? Py_None : value; }

/* Whether a text stands for itself: it does not begin as JSON does, and is not what a redaction leaves. */
static int stands_for_itself(PyObject *value) {
    if (value == NULL || PyUnicode_GET_LENGTH(value) == 0) return 1;
    Py_UCS4 first = PyUnicode_READ_CHAR(value, 0), second = 0;
    if (PyUnicode_GET_LENGTH(value) > 1) second = PyUnicode_READ_CHAR(value, 1);
    if ((first == 't' && second == 'r') || (first == 'f' && second == 'a') || (first == 'n' && second == 'u')) return 0;
    return !(first < 128 && strchr("{[\"-0123456789", (int)first)) && PyUnicode_Compare(value, given.redacted) != 0;
}

static PyObject *ops_of(PyObject *list) {
    if (list == NULL) return Py_NewRef(nothing);
    if (!PyList_CheckExact(list)) return NULL;
    for (Py_ssize_t each = 0; each < PyList_GET_SIZE(list); each++)
        if (!PyUnicode_CheckExact(PyList_GET_ITEM(list, each))) return NULL;
    return PyList_AsTuple(list);
}

static int is_blank(PyObject *name) {
    for (Py_ssize_t each = 0; each < PyUnicode_GET_LENGTH(name); each++)
        if (!Py_UNICODE_ISSPACE(PyUnicode_READ_CHAR(name, each))) return 0;
    return 1;
}

static PyObject *tuple_of(PyTypeObject *type, Py_ssize_t size, PyObject *const *fields) {
    PyObject *tuple = type->tp_alloc(type, size);
    if (tuple != NULL)
        for (Py_ssize_t each = 0; each < size; each++) PyTuple_SET_ITEM(tuple, each, Py_NewRef(fields[each]));
    return tuple;
}

/* item(attributes, trace_id, span_id, start, end, session, job) */
static PyObject *plain_item(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    static const char mcp[] = "mcp__";
    if (given.item == NULL || count != 7) {
        PyErr_SetString(PyExc_TypeError, "item(attributes, trace_id, span_id, start, end, session, job)");
        return NULL;
    }
    PyObject *attributes = args[0], *at[ATTRIBUTE_KEYS];
    if (!PyDict_CheckExact(attributes)) Py_RETURN_NONE;
    for (int key = 0; key < ATTRIBUTE_KEYS; key++) at[key] = attribute(attributes, key);
    PyObject *name = at[TOOL_NAME], *kind = at[TOOL_KIND];
    int usual = name != NULL && PyUnicode_CheckExact(name) && !is_blank(name) && at[ARGUMENTS] == NULL &&
                at[RESULT] == NULL && is_integer_or_none(at[SEQ]) && is_integer_or_none(at[TURN]);
    for (int key = INPUT; usual && key <= SKILL; key++)
        usual = key == SEQ || key == TURN || key == OPS || is_text_or_none(at[key]);
    if (!usual || !stands_for_itself(at[INPUT]) || !stands_for_itself(at[OUTPUT])) Py_RETURN_NONE;
    if (PyUnicode_GET_LENGTH(name) >= 5) {
        int is_mcp = 1;
        for (int each = 0; each < 5; each++) is_mcp = is_mcp && PyUnicode_READ_CHAR(name, each) == (Py_UCS4)mcp[each];
        if (is_mcp) Py_RETURN_NONE;
    }
    if (kind == NULL || PyUnicode_GET_LENGTH(kind) == 0) {
        kind = PyDict_GetItemWithError(given.tool_kinds, name);
        if (kind == NULL) kind = given.other;
    }
    PyObject *tool = at[MCP_TOOL], *server = at[MCP_SERVER];
    if (tool != NULL && PyUnicode_GET_LENGTH(tool) == 0) tool = NULL;
    if (server != NULL && PyUnicode_GET_LENGTH(server) == 0) server = NULL;
    PyObject *ops = ops_of(at[OPS]), *id = NULL, *call = NULL, *item = NULL;
    if (ops == NULL) {
        if (PyErr_Occurred()) return NULL;
        Py_RETURN_NONE;
    }
    id = PyTuple_Pack(3, args[1], args[2], Py_None);
    if (id == NULL) goto done;
    PyObject *call_fields[CALL_FIELDS] = {
        name, given.no_arguments, at[OUTPUT] == NULL ? given.no_result : at[OUTPUT], Py_None, args[3], args[4],
        Py_None, given.ok_status, given.convention, given.source, Py_None, args[1], args[2]};
    call = tuple_of(given.call, CALL_FIELDS, call_fields);
    if (call == NULL) goto done;
    PyObject *item_fields[ITEM_FIELDS] = {
        id, given.tool, name, args[5], args[6], or_none(at[SEQ]), args[3], or_none(at[TURN]), kind, ops,
        or_none(at[PATH]), or_none(at[OP]), or_none(at[INPUT]), or_none(at[OUTPUT]), given.ok_text, or_none(server),
        or_none(tool), or_none(at[SKILL]), or_none(at[TRUSTED]), or_none(at[TOTAL]), or_none(at[COMPLETE]), Py_None,
        attributes, call};
    item = tuple_of(given.item, ITEM_FIELDS, item_fields);
done:
    Py_XDECREF(call);
    Py_XDECREF(id);
    Py_DECREF(ops);
    return item;
}

/* ---- The module ---- */

static PyObject *configure(PyObject *module, PyObject *args, PyObject *named) {
    static char *names[] = {"item", "call", "keys", "tool_kinds", "tool", "other", "ok_status", "ok_text", "convention",
                            "source", "no_arguments", "no_result", "redacted", NULL};
    PyObject *keys = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, named, "$O!O!O!O!OOOOOOOOO:configure", names, &PyType_Type, &given.item,
                                     &PyType_Type, &given.call, &PyTuple_Type, &keys, &PyDict_Type, &given.tool_kinds,
                                     &given.tool, &given.other, &given.ok_status, &given.ok_text, &given.convention,
                                     &given.source, &given.no_arguments, &given.no_result, &given.redacted))
        keys = NULL;
    else if (PyTuple_GET_SIZE(keys) != ATTRIBUTE_KEYS) {
        PyErr_Format(PyExc_TypeError, "expected %d keys", ATTRIBUTE_KEYS);
        keys = NULL;
    }
    if (keys == NULL) {
        memset(&given, 0, sizeof given);
        return NULL;
    }
    PyObject *const constants[] = {(PyObject *)given.item, (PyObject *)given.call, keys, given.tool_kinds, given.tool,
                                   given.other, given.ok_status, given.ok_text, given.convention, given.source,
                                   given.no_arguments, given.no_result, given.redacted};
    for (size_t each = 0; each < sizeof constants / sizeof *constants; each++) Py_INCREF(constants[each]);
    for (int key = 0; key < ATTRIBUTE_KEYS; key++) given.keys[key] = PyTuple_GET_ITEM(keys, key);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"configure", (PyCFunction)(void (*)(void))configure, METH_VARARGS | METH_KEYWORDS, NULL},
    {"item", (PyCFunction)(void (*)(void))plain_item, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_plain", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__plain(void) {
    nothing = PyTuple_New(0);
    return nothing == NULL ? NULL : PyModule_Create(&definition);
}
