/* Eight bytes at a time, as one number: much faster than one by one, on every machine. */
#ifndef REFOLD_WORDS_H
#define REFOLD_WORDS_H

#include <stdint.h>

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Return eight bytes as one number, the first one lowest. */
static inline uint64_t
eight_bytes(const unsigned char *at)
{
    return (uint64_t)at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16 | (uint64_t)at[3] << 24
           | (uint64_t)at[4] << 32 | (uint64_t)at[5] << 40 | (uint64_t)at[6] << 48
           | (uint64_t)at[7] << 56;
}

/* Tell, by a number that is not 0, whether one of eight ASCII bytes is less than *limit*. */
static inline uint64_t
has_less(uint64_t bytes, unsigned limit)
{
    return ~(bytes + EACH(0x80 - limit)) & EACH(0x80);
}

/* Tell the same of one of eight ASCII bytes that is *byte*. */
static inline uint64_t
has_byte(uint64_t bytes, unsigned byte)
{
    return has_less(bytes ^ EACH(byte), 1);
}

#endif
