/* Bytes of a text: what letters they are, and eight at a time, as one number. */
#ifndef REFOLD_BYTES_H
#define REFOLD_BYTES_H

#include <stdint.h>

#if defined(_MSC_VER)
#include <intrin.h>
#endif

enum { BEYOND = 0x80 }; /* the first byte beyond ASCII; it may stand for any such character */

static inline int
is_capital(unsigned byte)
{
    return byte - 'A' < 26u;
}

static inline int
is_small(unsigned byte)
{
    return byte - 'a' < 26u;
}

static inline int
is_letter(unsigned byte)
{
    return is_small(byte | 32);
}

static inline int
is_digit(unsigned byte)
{
    return byte - '0' < 10u;
}

/* Return eight bytes as one number, the first one lowest. */
static inline uint64_t
eight_bytes(const unsigned char *at)
{
    return (uint64_t)at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16 | (uint64_t)at[3] << 24
           | (uint64_t)at[4] << 32 | (uint64_t)at[5] << 40 | (uint64_t)at[6] << 48
           | (uint64_t)at[7] << 56;
}

/* Return the number of the lowest bit that is set; there must be one. */
static inline int
lowest_bit(uint64_t bits)
{
#if defined(__GNUC__)
    return __builtin_ctzll(bits);
#elif defined(_MSC_VER) && defined(_WIN64)
    unsigned long number;
    _BitScanForward64(&number, bits);
    return (int)number;
#else
    int number = 0;
    for (uint64_t lowest = bits & (0 - bits); lowest > 1; lowest >>= 1) {
        number++;
    }
    return number;
#endif
}

#endif
