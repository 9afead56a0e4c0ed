/* An index of all words and values of a conversation: where each was said, how often, by whom.
 *
 * Words of ASCII letters are read here, and what they look like is told in shapes.c; of others
 * Python is asked which items they have, and once for each item what it looks like.
 */
#include "known.h"
#include "scan.h"

#include <string.h>

enum { BLANK = 1, LETTER = 2, BEFORE = 4, WITHIN = 8 }; /* what a byte may be, in the table */
enum { UNKNOWN = 0, MEANS_NOTHING = 1, FIRST_ROW = 2 }; /* what `flags` of a known item tell */
enum { FIRST_ROWS = 1024, VOID = -1 };

enum { SHAPE, FIRST, LAST, TURNS, TIMES, VOICES, COLUMNS };

typedef struct {
    long figures[COLUMNS];
    Py_ssize_t piece; /* the last one that it was found in */
    PyObject *number; /* of the row itself: one object, wherever it is shown */
} Row;

typedef struct {
    PyObject_HEAD
    PyObject *classes; /* bytes: what each byte may be */
    PyObject *items_of; /* word that is not ASCII → its items */
    PyObject *shape_of; /* tells the shape of an item that is not ASCII */
    PyObject *common;   /* a set: the words that mean nothing */
    long no_shape;      /* that of an item that means nothing */
    PyObject *number;   /* item → its row */
    Py_ssize_t longest; /* longer items mean nothing */
    KnownNames known;
    Row *rows;
    Py_ssize_t count, room;
    Py_ssize_t pieces; /* how many there were so far */
} Items;

/* A text that is read, and what was found in the piece at hand. */
typedef struct {
    Items *self;
    PyObject *text;
    const unsigned char *plain; /* a byte for each character; 255 for those beyond ASCII */
    long turn, voice;
    PyObject *nothing; /* VOID */
    PyObject *shown; /* a set: the rows of this piece, in Python's order of those and VOID */
    Py_ssize_t count; /* how many items it has */
} Text;

static int
make_room(Items *self)
{
    Py_ssize_t room = self->room ? 2 * self->room : FIRST_ROWS;
    Row *rows = PyMem_Realloc(self->rows, (size_t)room * sizeof *rows);
    if (rows == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    self->rows = rows;
    self->room = room;
    return 0;
}

/* The shape of an item; -1 with an error. */
static long
shape_of(const Items *self, PyObject *item)
{
    if (PyUnicode_IS_ASCII(item) && PyUnicode_GET_LENGTH(item) <= self->longest) {
        return scan_shape_of(item, self->common);
    }
    PyObject *shape = PyObject_CallOneArg(self->shape_of, item);
    long number = shape == NULL ? -1 : PyLong_AsLong(shape);
    Py_XDECREF(shape);
    return number;
}

/* Give an item a row that was seen for the first time; the table keeps its string. */
static int
add_row(Text *text, Known *known)
{
    Items *self = text->self;
    long shape = shape_of(self, known->name);
    if (shape == self->no_shape) {
        known->flags = MEANS_NOTHING;
        return 0;
    }
    if (shape < 0 || (self->count == self->room && make_room(self) < 0)) {
        return -1;
    }
    Row row = {{shape, text->turn, -1, 0, 0, 0}, -1, PyLong_FromSsize_t(self->count)};
    if (row.number == NULL || PyDict_SetItem(self->number, known->name, row.number) < 0) {
        Py_XDECREF(row.number);
        return -1;
    }
    self->rows[self->count] = row;
    known->flags = (uint32_t)(FIRST_ROW + self->count++);
    return 0;
}

/* Note that a row was said in the piece at hand. */
static int
note_row(Text *text, Py_ssize_t number)
{
    Row *row = &text->self->rows[number];
    row->figures[TIMES]++;
    row->figures[VOICES] |= text->voice;
    if (row->figures[LAST] != text->turn) {
        row->figures[LAST] = text->turn;
        row->figures[TURNS]++;
    }
    if (row->piece == text->self->pieces) {
        return 0;
    }
    row->piece = text->self->pieces;
    return PySet_Add(text->shown, row->number);
}

/* Note an item as the table has it, which is NULL with an error. */
static int
note_known(Text *text, Known *known)
{
    if (known == NULL || (known->flags == UNKNOWN && add_row(text, known) < 0)) {
        return -1;
    }
    text->count++;
    return known->flags == MEANS_NOTHING ? PySet_Add(text->shown, text->nothing)
                                         : note_row(text, known->flags - FIRST_ROW);
}

static int
note_ascii(Text *text, const unsigned char *item, Py_ssize_t length)
{
    if (length > text->self->longest) {
        text->count++;
        return PySet_Add(text->shown, text->nothing);
    }
    return note_known(text, known_add_ascii(&text->self->known, item, length));
}

/* The items of a word that is not all letters: signs may begin one, and may join two. */
static int
note_parts(Text *text, Py_ssize_t start, Py_ssize_t stop)
{
    const unsigned char *plain = text->plain;
    const unsigned char *classes = (const unsigned char *)PyBytes_AS_STRING(text->self->classes);
    Py_ssize_t place = start;
    while (place < stop) {
        Py_ssize_t item = place;
        while (place < stop && classes[plain[place]] & BEFORE) {
            place++;
        }
        if (place == stop || !(classes[plain[place]] & LETTER)) {
            place = place > item ? place : place + 1;
            continue;
        }
        Py_ssize_t end;
        do {
            while (place < stop && classes[plain[place]] & LETTER) {
                place++;
            }
            end = place;
            while (place < stop && classes[plain[place]] & WITHIN) {
                place++;
            }
        } while (place < stop && place > end && classes[plain[place]] & LETTER);
        place = end;
        if (note_ascii(text, plain + item, end - item) < 0) {
            return -1;
        }
    }
    return 0;
}

/* A word with letters beyond ASCII: Python tells which items it has. */
static int
note_foreign(Text *text, Py_ssize_t start, Py_ssize_t stop)
{
    PyObject *word = PyUnicode_Substring(text->text, start, stop);
    PyObject *items = word == NULL ? NULL : PyObject_GetItem(text->self->items_of, word);
    Py_XDECREF(word);
    if (items == NULL) {
        return -1;
    }
    int result = PyList_Check(items) ? 0 : -1;
    for (Py_ssize_t place = 0; result == 0 && place < PyList_GET_SIZE(items); place++) {
        PyObject *item = PyList_GET_ITEM(items, place);
        result = PyUnicode_Check(item) ? note_known(text, known_add(&text->self->known, item)) : -1;
    }
    if (result < 0 && !PyErr_Occurred()) {
        PyErr_SetString(PyExc_TypeError, "a list of strings is wanted");
    }
    Py_DECREF(items);
    return result;
}

/* Read a piece, word by word: what stands between blanks and signs that are part of no item. */
static int
read_piece(Text *text, Py_ssize_t start, Py_ssize_t stop)
{
    const unsigned char *plain = text->plain;
    const unsigned char *classes = (const unsigned char *)PyBytes_AS_STRING(text->self->classes);
    Py_ssize_t place = start;
    int result = 0;
    while (result == 0) {
        while (place < stop && classes[plain[place]] & BLANK) {
            place++;
        }
        if (place == stop) {
            break;
        }
        Py_ssize_t word = place;
        unsigned all = LETTER, any = 0;
        for (; place < stop && !(classes[plain[place]] & BLANK); place++) {
            all &= classes[plain[place]];
            any |= plain[place];
        }
        result = any >= BEYOND ? note_foreign(text, word, place)
                 : all == LETTER ? note_ascii(text, plain + word, place - word)
                                 : note_parts(text, word, place);
    }
    text->self->pieces++;
    return result;
}

/* A byte for each character of a text that is not ASCII; NULL with an error. */
static unsigned char *
make_plain(PyObject *text)
{
    Py_ssize_t size = PyUnicode_GET_LENGTH(text);
    unsigned char *plain = PyMem_Malloc((size_t)size);
    if (plain == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    int kind = PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    for (Py_ssize_t place = 0; place < size; place++) {
        Py_UCS4 code = PyUnicode_READ(kind, data, place);
        plain[place] = (unsigned char)(code < BEYOND ? code : Py_UNICODE_ISSPACE(code) ? ' ' : 0xFF);
    }
    return plain;
}

/* Read all pieces of a text; *counts* and *shown* are lists, which get one entry for each. */
static int
read_pieces(Text *text, PyObject *ends, PyObject *counts, PyObject *shown)
{
    Py_ssize_t start = 0, size = PyUnicode_GET_LENGTH(text->text);
    for (Py_ssize_t piece = 0; piece < PyList_GET_SIZE(ends); piece++) {
        Py_ssize_t end = PyLong_AsSsize_t(PyList_GET_ITEM(ends, piece));
        if (end < start || end > size) {
            if (!PyErr_Occurred()) {
                PyErr_SetString(PyExc_ValueError, "pieces end in order, within the text");
            }
            return -1;
        }
        text->count = 0;
        text->shown = PySet_New(NULL);
        PyObject *rows = NULL, *count = NULL;
        if (text->shown != NULL && read_piece(text, start, end) == 0
            && PySet_Discard(text->shown, text->nothing) >= 0) {
            rows = PySequence_Tuple(text->shown);
            count = PyLong_FromSsize_t(text->count);
        }
        Py_XDECREF(text->shown);
        int result = rows == NULL || count == NULL || PyList_Append(counts, count) < 0
                             || PyList_Append(shown, rows) < 0
                         ? -1
                         : 0;
        Py_XDECREF(rows);
        Py_XDECREF(count);
        if (result < 0) {
            return -1;
        }
        start = end;
    }
    return 0;
}

static PyObject *
items_add_text(PyObject *object, PyObject *args)
{
    Text text = {.self = (Items *)object};
    PyObject *ends;
    if (!PyArg_ParseTuple(args, "llUO!:add_text", &text.turn, &text.voice, &text.text, &PyList_Type,
                          &ends)) {
        return NULL;
    }
    unsigned char *made = NULL;
    if (!PyUnicode_IS_ASCII(text.text) && (made = make_plain(text.text)) == NULL) {
        return NULL;
    }
    text.plain = made == NULL ? PyUnicode_1BYTE_DATA(text.text) : made;
    PyObject *counts = PyList_New(0), *shown = PyList_New(0), *result = NULL;
    text.nothing = PyLong_FromLong(VOID);
    if (counts != NULL && shown != NULL && text.nothing != NULL
        && read_pieces(&text, ends, counts, shown) == 0) {
        result = PyTuple_Pack(2, counts, shown);
    }
    Py_XDECREF(text.nothing);
    Py_XDECREF(counts);
    Py_XDECREF(shown);
    PyMem_Free(made);
    return result;
}

static PyObject *
list_column(const Items *self, int column)
{
    PyObject *list = PyList_New(self->count);
    for (Py_ssize_t row = 0; list != NULL && row < self->count; row++) {
        PyObject *figure = PyLong_FromLong(self->rows[row].figures[column]);
        if (figure == NULL) {
            Py_CLEAR(list);
        } else {
            PyList_SET_ITEM(list, row, figure);
        }
    }
    return list;
}

static PyObject *
items_columns(PyObject *object, PyObject *Py_UNUSED(none))
{
    Items *self = (Items *)object;
    PyObject *result = PyTuple_New(1 + COLUMNS);
    if (result == NULL) {
        return NULL;
    }
    PyTuple_SET_ITEM(result, 0, Py_NewRef(self->number));
    for (int column = 0; column < COLUMNS; column++) {
        PyObject *list = list_column(self, column);
        if (list == NULL) {
            Py_DECREF(result);
            return NULL;
        }
        PyTuple_SET_ITEM(result, column + 1, list);
    }
    return result;
}

/* What an object holds never leads back to it, so the garbage collector need not know of it. */
static void
items_dealloc(PyObject *object)
{
    Items *self = (Items *)object;
    PyTypeObject *type = Py_TYPE(object);
    known_clear(&self->known);
    Py_XDECREF(self->classes);
    Py_XDECREF(self->items_of);
    Py_XDECREF(self->shape_of);
    Py_XDECREF(self->common);
    Py_XDECREF(self->number);
    for (Py_ssize_t row = 0; row < self->count; row++) {
        Py_XDECREF(self->rows[row].number);
    }
    PyMem_Free(self->rows);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyObject *
items_new(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(named))
{
    PyObject *classes, *items_of, *shape_of, *common;
    Py_ssize_t longest;
    long no_shape;
    if (!PyArg_ParseTuple(args, "SnO(OlO!):items", &classes, &longest, &items_of, &shape_of,
                          &no_shape, &PyFrozenSet_Type, &common)
        || table_of(classes, 256) == NULL) {
        return NULL;
    }
    Items *self = (Items *)type->tp_alloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->classes = Py_NewRef(classes);
    self->longest = longest;
    self->items_of = Py_NewRef(items_of);
    self->shape_of = Py_NewRef(shape_of);
    self->no_shape = no_shape;
    self->common = Py_NewRef(common);
    self->number = PyDict_New();
    if (self->number == NULL || known_init(&self->known) < 0) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static PyMethodDef methods[] = {
    {"add_text", items_add_text, METH_VARARGS, NULL},
    {"columns", items_columns, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, (void *)items_new},
    {Py_tp_dealloc, (void *)items_dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};

PyType_Spec items_spec = {
    .name = "refold._scan.items",
    .basicsize = sizeof(Items),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
