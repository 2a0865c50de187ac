/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/isa.c -- instruction sets that are usable: the CPU has them and the kernel saves their
 * registers.  Bits: Intel SDM volume 2A, CPUID; AMD APM volume 3, appendix E. */
#include <string.h>

#include "assay/deployment.h"
#include "runtime/machine.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#define IS_X86 1
#else
#define IS_X86 0
#endif

/* Parts of XCR0 that a set needs. */
#define XCR0_AVX    UINT64_C(0x06)
#define XCR0_AVX512 UINT64_C(0xe6)
#define XCR0_AMX    UINT64_C(0x60000)

enum {
    LEAF1_ECX,
    LEAF1_EDX,
    LEAF7_EBX,
    LEAF7_ECX,
    LEAF7_EDX,
    LEAF7_1_EAX,
    LEAF1E_1_EAX,
    EXTENDED1_ECX
};

/* Sorted by name. */
static const struct {
    const char *name;
    uint8_t where, bit;
    uint64_t xcr0;
} sets[] = {
    {"amx_bf16", LEAF7_EDX, 22, XCR0_AMX},
    {"amx_fp16", LEAF7_1_EAX, 21, XCR0_AMX},
    {"amx_fp8", LEAF1E_1_EAX, 4, XCR0_AMX},
    {"amx_int8", LEAF7_EDX, 25, XCR0_AMX},
    {"amx_tf32", LEAF1E_1_EAX, 6, XCR0_AMX},
    {"amx_tile", LEAF7_EDX, 24, XCR0_AMX},
    {"avx", LEAF1_ECX, 28, XCR0_AVX},
    {"avx2", LEAF7_EBX, 5, XCR0_AVX},
    {"avx512_bf16", LEAF7_1_EAX, 5, XCR0_AVX512},
    {"avx512_fp16", LEAF7_EDX, 23, XCR0_AVX512},
    {"avx512_vnni", LEAF7_ECX, 11, XCR0_AVX512},
    {"avx512bw", LEAF7_EBX, 30, XCR0_AVX512},
    {"avx512cd", LEAF7_EBX, 28, XCR0_AVX512},
    {"avx512dq", LEAF7_EBX, 17, XCR0_AVX512},
    {"avx512f", LEAF7_EBX, 16, XCR0_AVX512},
    {"avx512vbmi", LEAF7_ECX, 1, XCR0_AVX512},
    {"avx512vl", LEAF7_EBX, 31, XCR0_AVX512},
    {"avx_vnni", LEAF7_1_EAX, 4, XCR0_AVX},
    {"bmi1", LEAF7_EBX, 3, 0},
    {"bmi2", LEAF7_EBX, 8, 0},
    {"f16c", LEAF1_ECX, 29, XCR0_AVX},
    {"fma", LEAF1_ECX, 12, XCR0_AVX},
    {"lzcnt", EXTENDED1_ECX, 5, 0},
    {"movbe", LEAF1_ECX, 22, 0},
    {"popcnt", LEAF1_ECX, 23, 0},
    {"sse2", LEAF1_EDX, 26, 0},
    {"sse3", LEAF1_ECX, 0, 0},
    {"sse4_1", LEAF1_ECX, 19, 0},
    {"sse4_2", LEAF1_ECX, 20, 0},
    {"ssse3", LEAF1_ECX, 9, 0},
};

static assay__cpuid read_cpuid(void)
{
    assay__cpuid id = {0};
#if IS_X86
    unsigned a, b, c, d;

    if (__get_cpuid(1, &a, &b, &c, &d)) {
        id.leaf1_ecx = c;
        id.leaf1_edx = d;
        if (c & (1u << 27)) { /* OSXSAVE: xgetbv may be used */
            __asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
            id.xcr0 = (uint64_t)d << 32 | a;
        }
    }
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
        unsigned last = a;
        id.leaf7_ebx = b;
        id.leaf7_ecx = c;
        id.leaf7_edx = d;
        if (last >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d))
            id.leaf7_1_eax = a;
    }
    if (__get_cpuid_count(0x1e, 1, &a, &b, &c, &d))
        id.leaf1e_1_eax = a;
    if (__get_cpuid(0x80000001u, &a, &b, &c, &d))
        id.extended1_ecx = c;
#endif
    return id;
}

bool assay__machine_isa(const assay__machine *machine, char *buf, size_t cap)
{
    assay__cpuid id = machine->cpuid != NULL ? *machine->cpuid : read_cpuid();
    const uint32_t registers[] = {id.leaf1_ecx, id.leaf1_edx,   id.leaf7_ebx,    id.leaf7_ecx,
                                  id.leaf7_edx, id.leaf7_1_eax, id.leaf1e_1_eax, id.extended1_ecx};
    size_t used = 0;

    buf[0] = '\0';
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        if ((registers[sets[i].where] >> sets[i].bit & 1) == 0 ||
            (id.xcr0 & sets[i].xcr0) != sets[i].xcr0)
            continue;
        size_t length = strlen(sets[i].name);
        if (used + length + 2 > cap)
            return false;
        if (used > 0)
            buf[used++] = ' ';
        memcpy(buf + used, sets[i].name, length + 1);
        used += length;
    }
    return true;
}

static bool has_word(const char *words, const char *word, size_t length)
{
    for (;;) {
        size_t part = strcspn(words, " ");
        if (part == length && memcmp(words, word, length) == 0)
            return true;
        if (words[part] == '\0')
            return false;
        words += part + 1;
    }
}

bool assay_isa_covers(const char *usable, const char *required, char *missing, size_t cap)
{
    size_t used = 0;
    bool covered = true;

    if (cap > 0)
        missing[0] = '\0';
    if (required == NULL)
        return true;
    while (*required != '\0') {
        required += strspn(required, ", ");
        size_t length = strcspn(required, ", ");
        if (length > 0 && !has_word(usable, required, length)) {
            covered = false;
            if (used + (used > 0 ? 2 : 0) + length + 1 <= cap) {
                memcpy(missing + used, ", ", used > 0 ? 2 : 0);
                used += used > 0 ? 2 : 0;
                memcpy(missing + used, required, length);
                used += length;
                missing[used] = '\0';
            }
        }
        required += length;
    }
    return covered;
}
