/* Attributes: serialized KeyValues -> a dict, as `collector.receiver.values` reads them. Includes nothing itself. */

static struct {
    PyObject *value, *pair; /* `decode_value` and `decode_pair`, for what is not usual */
} in_python;

/* Python's errors all mean that the text or value is not usual; the way in Python meets them again and tells of them. */
static PyObject *text(Wire wire) { return PyUnicode_DecodeUTF8((const char *)wire.at, length(wire), NULL); }

static PyObject *bytes(Wire wire) { return PyBytes_FromStringAndSize((const char *)wire.at, length(wire)); }

static PyObject *value_of(Wire raw, int levels);

/* The elements of an ArrayValue that hold nothing but usual values. */
static PyObject *list_of(Wire wire, int levels) {
    PyObject *list = PyList_New(0);
    Field field;
    int more = -1;
    while (list != NULL && (more = read_field(&wire, &field)) > 0) {
        PyObject *element = NULL;
        if (field.number == 1 && field.type == 2) element = value_of(field.bytes, levels - 1);
        if (element == NULL || PyList_Append(list, element) < 0) {
            more = -1;
            Py_XDECREF(element);
            break;
        }
        Py_DECREF(element);
    }
    if (more < 0) Py_CLEAR(list);
    return list;
}

/* A text, number, truth value or list of such, and nothing else in the AnyValue; NULL without an error for others. */
static PyObject *usual_value(Wire raw, int levels) {
    Wire wire = raw;
    Field field;
    if (length(raw) == 0) return Py_NewRef(Py_None);
    if (read_field(&wire, &field) != 1 || wire.at != wire.end) return NULL;
    if (field.number == 1 && field.type == 2)
        return PyUnicode_DecodeUTF8((const char *)field.bytes.at, length(field.bytes), "replace");
    if (field.number == 2 && field.type == 0 && field.value < 2) return PyBool_FromLong((long)field.value);
    if (field.number == 3 && field.type == 0) return PyLong_FromLongLong((long long)field.value);
    if (field.number == 4 && field.type == 1) {
        double number;
        memcpy(&number, &field.value, sizeof number);
        return PyFloat_FromDouble(number);
    }
    if (field.number == 5 && field.type == 2 && levels > 0) return list_of(field.bytes, levels);
    return NULL;
}

enum { NESTING = 32 };

static PyObject *value_of(Wire raw, int levels) {
    PyObject *value = usual_value(raw, levels);
    /* What is unusual in a list makes all of it so: Python counts how deep it is from the outermost value. */
    if (value != NULL || PyErr_Occurred() || levels < NESTING) return value;
    PyObject *copy = bytes(raw);
    if (copy != NULL) value = PyObject_CallOneArg(in_python.value, copy);
    Py_XDECREF(copy);
    return value;
}

/* Attributes recur from span to span: short ones are kept as they were on the wire, with what they mean. */
enum { SLOTS = 1 << 15, KEPT = 1 << 14, SHORT = 96, PROBES = 32 };
typedef struct {
    uint64_t hash;
    uint8_t *raw;
    Py_ssize_t size;
    PyObject *key, *value; /* value: NULL for a key alone */
} Known;
static Known known[SLOTS];
static Py_ssize_t kept;
static uint64_t seed;

static uint64_t hash_of(Wire wire) {
    uint64_t hash = seed ^ (uint64_t)length(wire);
    while (length(wire) >= 8) {
        uint64_t word;
        memcpy(&word, wire.at, 8);
        hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
        wire.at += 8;
    }
    uint64_t rest = 0;
    memcpy(&rest, wire.at, (size_t)length(wire));
    hash = (hash ^ rest) * 0xBF58476D1CE4E5B9u;
    return hash ^ hash >> 32;
}

/* Its slot, one for it, or NULL where too many others are in the way: hashes can be made to collide, time cannot. */
static Known *find(Wire wire, uint64_t hash) {
    for (uint64_t slot = hash; slot < hash + PROBES; slot++) {
        Known *one = &known[slot & (SLOTS - 1)];
        if (one->raw == NULL) return one;
        if (one->hash == hash && one->size == length(wire) && memcmp(one->raw, wire.at, (size_t)one->size) == 0)
            return one;
    }
    return NULL;
}

static void forget_all(void) {
    for (Py_ssize_t slot = 0; slot < SLOTS; slot++) {
        if (known[slot].raw == NULL) continue;
        Known one = known[slot];
        memset(&known[slot], 0, sizeof one);
        PyMem_Free(one.raw);
        Py_DECREF(one.key);
        Py_XDECREF(one.value);
    }
    kept = 0;
}

static void keep(Wire wire, uint64_t hash, PyObject *key, PyObject *value) {
    if (kept >= KEPT) forget_all();
    Known *one = find(wire, hash);
    if (one == NULL || one->raw != NULL) return;
    uint8_t *raw = PyMem_Malloc((size_t)length(wire) + 1);
    if (raw == NULL) return;
    memcpy(raw, wire.at, (size_t)length(wire));
    *one = (Known){hash, raw, length(wire), Py_NewRef(key), Py_XNewRef(value)};
    kept++;
}

static PyObject *key_of(Wire wire) {
    uint64_t hash = hash_of(wire) ^ 0x5bd1e995;
    Known *one = find(wire, hash);
    if (one != NULL && one->raw != NULL && one->value == NULL) return Py_NewRef(one->key);
    PyObject *key = text(wire);
    if (key == NULL) return NULL;
    PyUnicode_InternInPlace(&key);
    if (length(wire) <= SHORT) keep(wire, hash, key, NULL);
    return key;
}

static int put_attribute(PyObject *attributes, Wire raw) {
    uint64_t hash = 0;
    if (length(raw) <= SHORT) {
        hash = hash_of(raw);
        Known *one = find(raw, hash);
        if (one != NULL && one->raw != NULL && one->value != NULL) return PyDict_SetItem(attributes, one->key, one->value);
    }
    Wire wire = raw;
    Field first, second;
    PyObject *key = NULL, *value = NULL;
    int done = -1;
    if (read_field(&wire, &first) == 1 && first.number == 1 && first.type == 2 && read_field(&wire, &second) == 1 &&
        second.number == 2 && second.type == 2 && wire.at == wire.end) {
        key = key_of(first.bytes);
        if (key != NULL) value = value_of(second.bytes, NESTING);
        if (value != NULL) done = PyDict_SetItem(attributes, key, value);
        if (done == 0 && length(raw) <= SHORT && !PyDict_Check(value)) keep(raw, hash, key, value);
    } else {
        PyObject *copy = bytes(raw), *pair = NULL;
        if (copy != NULL) pair = PyObject_CallOneArg(in_python.pair, copy);
        Py_XDECREF(copy);
        if (pair != NULL && PyTuple_Check(pair) && PyTuple_GET_SIZE(pair) == 2)
            done = PyDict_SetItem(attributes, PyTuple_GET_ITEM(pair, 0), PyTuple_GET_ITEM(pair, 1));
        Py_XDECREF(pair);
    }
    Py_XDECREF(key);
    Py_XDECREF(value);
    return done;
}
