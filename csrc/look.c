/* One look at a text that tells which detectors may find something in it.
 *
 * This does what the gates of the detectors do, all at once: each sign says "there may be", and
 * none is left out where there is. Everything that is a list (characters, words) comes from Python.
 */
#include "look.h"

enum {
    MIN_KEYWORDS = 3,
    MIN_MARKERS = 3,
    MIN_STEPS = 3,
    MIN_LINES = 4,
    SMALL_ROOM = 4096,
};
static const double MAX_SPECIAL = 0.15;
static const double MAX_VARIATION = 1.44 - 1e-9; /* squared; less what rounding may take away */

static int
may_argue(const Look *look)
{
    int markers = look->markers + (look->flags & ORDINAL ? 1 : 0);
    int has_label = look->flags & ANALYSIS && look->present & 1u << COLON;
    return look->flags & LABEL
           || (look->markers
               && (markers >= MIN_MARKERS || has_label || look->steps >= MIN_STEPS));
}

/* Return the signs that follow from all that has been seen. */
static unsigned
judge(const Look *look)
{
    unsigned signs = look->signs, present = look->present;
    double size = (double)look->size, total = size - (double)(look->lines - 1);
    Py_UCS4 first = PyUnicode_READ_CHAR(look->text, 0);
    signs |= present & 1u << DOLLAR ? LATEX_MATH : 0;
    signs |= present & 1u << AT ? EMAIL : 0;
    signs |= present & 1u << SLASH ? FILE_PATH : 0;
    signs |= present & 1u << QUOTE ? QUOTED_KEY | DIRECT_QUOTE : 0;
    signs |= first == '{' || first == '[' || Py_UNICODE_ISSPACE(first) ? JSON_STRUCTURE : 0;
    signs |= look->flags & FRAME ? ERROR_TRACEBACK : 0;
    signs |= look->flags & VERSION && look->digits ? VERSION_NUMBER : 0;
    signs |= look->flags & WEAK && look->keywords >= MIN_KEYWORDS ? SQL_CONTENT : 0;
    signs |= may_argue(look) ? REASONING_CHAIN : 0;
    signs |= (double)look->special > MAX_SPECIAL * size ? HIGH_SPECIAL_CHAR_RATIO : 0;
    double spread = (double)look->lines * look->squares - total * total;
    if (look->lines >= MIN_LINES && spread > MAX_VARIATION * total * total) {
        signs |= HIGH_LINE_LENGTH_VARIANCE;
    }
    return signs;
}

/* Copy the text as bytes, with zeros around them; *small* takes it if it is short enough. */
static unsigned char *
plain_copy(PyObject *text, unsigned char *small)
{
    Py_ssize_t size = PyUnicode_GET_LENGTH(text);
    unsigned char *room = small;
    if (size > SMALL_ROOM - 2 * MARGIN) {
        room = PyMem_Malloc((size_t)size + 2 * MARGIN);
        if (room == NULL) {
            PyErr_NoMemory();
            return NULL;
        }
    }
    unsigned char *bytes = room + MARGIN;
    memset(room, 0, MARGIN);
    memset(bytes + size, 0, MARGIN);
    if (PyUnicode_IS_ASCII(text)) {
        memcpy(bytes, PyUnicode_1BYTE_DATA(text), (size_t)size);
        return room;
    }
    int kind = PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    for (Py_ssize_t place = 0; place < size; place++) {
        Py_UCS4 code = PyUnicode_READ(kind, data, place);
        bytes[place] = code < BEYOND ? (unsigned char)code : BEYOND;
    }
    return room;
}

/* Take the tables that Python has made; return 0 with an error if they are not as they should. */
static int
read_tables(PyObject *const *args, Tables *tables)
{
    tables->kinds = table_of(args[0], 256);
    tables->foreign = table_of(args[1], CODES);
    tables->slots = table_of(args[2], 1 << SLOT_BITS);
    if (!tables->kinds || !tables->foreign || !tables->slots) {
        return 0;
    }
    if (tables->kinds[0] != END || !PyBytes_CheckExact(args[3])
        || PyBytes_GET_SIZE(args[3]) < (Py_ssize_t)sizeof(Term)) {
        PyErr_SetString(PyExc_TypeError, "kinds with an end and a table of terms are wanted");
        return 0;
    }
    Term first;
    tables->terms = (const unsigned char *)PyBytes_AS_STRING(args[3]);
    tables->term_count = (unsigned)(PyBytes_GET_SIZE(args[3]) / (Py_ssize_t)sizeof(Term));
    memcpy(&first, tables->terms, sizeof first);
    tables->factor = first.key;
    return 1;
}

static Look
new_look(PyObject *text, unsigned char *bytes, const Tables *tables)
{
    Look look = {0};
    look.tables = tables;
    look.text = text;
    look.bytes = bytes;
    look.size = PyUnicode_GET_LENGTH(text);
    look.stop = look.number = look.reply = -1;
    return look;
}

/* Read once more, with ASCII letters for the few others that count as such in any case: they may be
 * a letter of a term or none. */
static void
read_undisguised(Look *look)
{
    Look again = new_look(look->text, look->bytes, look->tables);
    for (Py_ssize_t place = 0; place < again.size; place++) {
        if (again.bytes[place] == BEYOND && foreign_at(&again, place) >= FOREIGN_LETTER) {
            again.bytes[place] = (unsigned char)foreign_at(&again, place);
        }
    }
    again.counted = look->counted;
    again.keywords = look->keywords;
    again.markers = look->markers;
    read_text(&again);
    look->keywords = again.keywords;
    look->markers = again.markers;
    look->flags |= again.flags;
    look->signs |= again.signs;
}

PyObject *
scan_look(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    Tables tables;
    if (count != 5 || !PyUnicode_Check(args[0])) {
        PyErr_SetString(PyExc_TypeError, "look(text, kinds, foreign, slots, terms) is wanted");
        return NULL;
    }
    if (PyUnicode_GET_LENGTH(args[0]) == 0) {
        return PyLong_FromLong(0);
    }
    unsigned char small[SMALL_ROOM];
    unsigned char *room = read_tables(args + 1, &tables) ? plain_copy(args[0], small) : NULL;
    if (room == NULL) {
        return NULL;
    }
    Look look = new_look(args[0], room + MARGIN, &tables);
    read_text(&look);
    if (look.has_disguise) {
        read_undisguised(&look);
    }
    if (room != small) {
        PyMem_Free(room);
    }
    return PyLong_FromUnsignedLong(judge(&look));
}
