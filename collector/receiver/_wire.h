/* Protobuf's wire format: the fields of a message, one after another. */

#include <stddef.h>
#include <stdint.h>

typedef struct {
    const uint8_t *at, *end;
} Wire;

/* Of a message: 1 a field was read, 0 it is over, -1 it is not usual. */
typedef struct {
    uint32_t number, type;
    uint64_t value;
    Wire bytes;
} Field;

static int read_varint(Wire *wire, uint64_t *value) {
    uint64_t found = 0;
    for (int shift = 0; shift < 64 && wire->at < wire->end; shift += 7) {
        uint8_t byte = *wire->at++;
        if (shift == 63 && byte > 1) return -1;
        found |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) {
            *value = found;
            return 0;
        }
    }
    return -1;
}

/* A tag or a length: protobuf refuses those of more than 5 bytes. */
static int read_short(Wire *wire, uint64_t *value) {
    const uint8_t *start = wire->at;
    return read_varint(wire, value) < 0 || wire->at - start > 5 ? -1 : 0;
}

static uint64_t little_endian(const uint8_t *at, int size) {
    uint64_t found = 0;
    for (int place = size - 1; place >= 0; place--) found = found << 8 | at[place];
    return found;
}

static int read_field(Wire *wire, Field *field) {
    uint64_t tag, size;
    if (wire->at == wire->end) return 0;
    if (read_short(wire, &tag) < 0 || tag >> 3 == 0 || tag >> 3 > 0x1FFFFFFF) return -1;
    field->number = (uint32_t)(tag >> 3);
    field->type = tag & 7;
    switch (field->type) {
    case 0:
        return read_varint(wire, &field->value) < 0 ? -1 : 1;
    case 1:
    case 5:
        size = field->type == 1 ? 8 : 4;
        if ((uint64_t)(wire->end - wire->at) < size) return -1;
        field->value = little_endian(wire->at, (int)size);
        wire->at += size;
        return 1;
    case 2:
        if (read_short(wire, &size) < 0 || size > (uint64_t)(wire->end - wire->at)) return -1;
        field->bytes.at = wire->at;
        field->bytes.end = wire->at + size;
        wire->at += size;
        return 1;
    default:
        return -1;
    }
}

static inline Py_ssize_t length(Wire wire) { return wire.end - wire.at; }

static int all_zero(Wire wire) {
    while (wire.at < wire.end)
        if (*wire.at++) return 0;
    return 1;
}
