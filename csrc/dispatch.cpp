#include "dispatch.hpp"

#include <atomic>

#ifdef REMAPND_HAS_V2
#ifdef _MSC_VER
#include <immintrin.h>
#include <intrin.h>
#else
#include <cpuid.h>
#endif
#endif

namespace remapnd {

#define REMAPND_DECLARE(level) \
    namespace level {          \
    extern const Kernels table; \
    }
REMAPND_DECLARE(plain)
#ifdef REMAPND_HAS_V2
REMAPND_DECLARE(v2)
REMAPND_DECLARE(v3)
REMAPND_DECLARE(v4)
#endif
#ifdef REMAPND_HAS_NEON
REMAPND_DECLARE(neon)
#endif

namespace {

#ifdef REMAPND_HAS_V2
struct Cpuid {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    explicit Cpuid(unsigned leaf) {
#ifdef _MSC_VER
        int r[4];
        __cpuid(r, static_cast<int>(leaf & 0x80000000u));
        if (static_cast<unsigned>(r[0]) < leaf) return;
        __cpuidex(r, static_cast<int>(leaf), 0);
        eax = r[0], ebx = r[1], ecx = r[2], edx = r[3];
#else
        if (!__get_cpuid_count(leaf, 0, &eax, &ebx, &ecx, &edx)) eax = ebx = ecx = edx = 0;
#endif
    }
};

constexpr bool all(unsigned value, unsigned mask) { return (value & mask) == mask; }

unsigned xcr0() {
#ifdef _MSC_VER
    return static_cast<unsigned>(_xgetbv(0));
#else
    unsigned eax, edx;
    __asm__ volatile("xgetbv" : "=a"(eax), "=d"(edx) : "c"(0));
    return eax;
#endif
}

// The level of x86-64 that processor and system have, 1 to 4 (bits as the psABI supplement lists them).
int x86_level() {
    const Cpuid one(1), seven(7), extended(0x80000001u);
    // SSE3, SSSE3, CMPXCHG16B, SSE4.1, SSE4.2, POPCNT; LAHF
    if (!all(one.ecx, 1u << 0 | 1u << 9 | 1u << 13 | 1u << 19 | 1u << 20 | 1u << 23) || !all(extended.ecx, 1u)) return 1;
    // FMA, MOVBE, OSXSAVE, AVX, F16C; BMI1, AVX2, BMI2; LZCNT; xmm and ymm saved by the system
    if (!all(one.ecx, 1u << 12 | 1u << 22 | 1u << 27 | 1u << 28 | 1u << 29) ||
        !all(seven.ebx, 1u << 3 | 1u << 5 | 1u << 8) || !all(extended.ecx, 1u << 5) || !all(xcr0(), 0x6))
        return 2;
    // AVX-512 F, DQ, CD, BW, VL; mask registers and zmm saved
#ifdef REMAPND_EMULATE_V4
    return 4;
#endif
    if (!all(seven.ebx, 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31) || !all(xcr0(), 0xe6)) return 3;
    return 4;
}
#endif

struct Level {
    const char* name;
    const Kernels* table;
    bool usable;
};

const std::vector<Level>& levels() {
    static const std::vector<Level> all = [] {
        std::vector<Level> v{{"plain", &plain::table, true}};
#ifdef REMAPND_HAS_V2
        const int x86 = x86_level();
        v.push_back({"v2", &v2::table, x86 >= 2});
        v.push_back({"v3", &v3::table, x86 >= 3});
        v.push_back({"v4", &v4::table, x86 >= 4});
#endif
#ifdef REMAPND_HAS_NEON
        v.push_back({"neon", &neon::table, true});
#endif
        return v;
    }();
    return all;
}

std::atomic<const Kernels*> in_use{nullptr};

}  // namespace

std::vector<std::string> levels_built() {
    std::vector<std::string> names;
    for (const Level& l : levels()) names.emplace_back(l.name);
    return names;
}

std::vector<std::string> levels_usable() {
    std::vector<std::string> names;
    for (const Level& l : levels())
        if (l.usable) names.emplace_back(l.name);
    return names;
}

bool use_level(const std::string& name) {
    for (const Level& l : levels())
        if (l.usable && name == l.name) {
            in_use = l.table;
            return true;
        }
    return false;
}

const Kernels& kernels() {
    const Kernels* k = in_use.load(std::memory_order_acquire);
    if (!k) {
        for (const Level& l : levels())
            if (l.usable) k = l.table;
        in_use.store(k, std::memory_order_release);
    }
    return *k;
}

}  // namespace remapnd
