// Integers of a fixed number of bits, for positions and sums that 64 bits do not hold.
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <string>

namespace remapnd {

// Two's complement of 64 * N bits.  Nothing overflows for the callers, who state what their numbers stay below.
template <int N>
class Wide {
public:
    constexpr Wide() = default;
    constexpr explicit Wide(std::uint64_t value) { limbs_[0] = value; }

    template <int M>
    explicit Wide(const Wide<M>& from) {
        const std::uint64_t rest = from.is_negative() ? ~std::uint64_t{0} : 0;
        for (int i = 0; i < N; ++i) limbs_[i] = i < M ? from.limb(i) : rest;
    }

    std::uint64_t limb(int i) const { return i >= 0 && i < N ? limbs_[i] : 0; }
    bool is_negative() const { return limbs_[N - 1] >> 63; }
    bool is_zero() const {
        std::uint64_t any = 0;
        for (const std::uint64_t limb : limbs_) any |= limb;
        return any == 0;
    }
    bool fits_64() const {
        std::uint64_t any = 0;
        for (int i = 1; i < N; ++i) any |= limbs_[i];
        return any == 0;
    }

    Wide& operator+=(const Wide& other) {
        std::uint64_t carry = 0;
        for (int i = 0; i < N; ++i) {
            const std::uint64_t sum = limbs_[i] + carry;
            carry = sum < carry;
            limbs_[i] = sum + other.limbs_[i];
            carry += limbs_[i] < sum;
        }
        return *this;
    }
    Wide& operator-=(const Wide& other) { return *this += -other; }
    Wide operator-() const {
        Wide result;
        std::uint64_t carry = 1;
        for (int i = 0; i < N; ++i) {
            result.limbs_[i] = ~limbs_[i] + carry;
            carry = carry && result.limbs_[i] == 0;
        }
        return result;
    }
    friend Wide operator+(Wide a, const Wide& b) { return a += b; }
    friend Wide operator-(Wide a, const Wide& b) { return a -= b; }

    Wide operator<<(int bits) const {
        Wide result;
        const int skip = bits / 64, shift = bits % 64;
        for (int i = N; i-- > skip;)
            result.limbs_[i] = shift ? limb(i - skip) << shift | limb(i - skip - 1) >> (64 - shift) : limb(i - skip);
        return result;
    }
    // Of a number that is not negative.
    Wide operator>>(int bits) const {
        Wide result;
        const int skip = bits / 64, shift = bits % 64;
        for (int i = 0; i < N - skip; ++i)
            result.limbs_[i] = shift ? limb(i + skip) >> shift | limb(i + skip + 1) << (64 - shift) : limb(i + skip);
        return result;
    }

    Wide operator*(std::uint32_t factor) const {
        Wide result;
        std::uint64_t carry = 0;
        for (int i = 0; i < N; ++i) {
            const std::uint64_t low = (limbs_[i] & kHalf) * factor + carry;
            const std::uint64_t high = (limbs_[i] >> 32) * factor + (low >> 32);
            result.limbs_[i] = high << 32 | (low & kHalf);
            carry = high >> 32;
        }
        return result;
    }
    friend Wide operator*(const Wide& a, const Wide& b) {
        Wide result;
        for (int i = 0; i < 2 * N; ++i) {
            const auto half = static_cast<std::uint32_t>(b.limbs_[i / 2] >> (i % 2 * 32));
            if (half) result += (a << (32 * i)) * half;
        }
        return result;
    }
    // Divides a number that is not negative, and returns the remainder.
    std::uint32_t divide_by(std::uint32_t divisor) {
        std::uint64_t rest = 0;
        for (int i = N; i-- > 0;) {
            const std::uint64_t high = rest << 32 | limbs_[i] >> 32;
            const std::uint64_t low = high % divisor << 32 | (limbs_[i] & kHalf);
            limbs_[i] = high / divisor << 32 | low / divisor;
            rest = low % divisor;
        }
        return static_cast<std::uint32_t>(rest);
    }

    friend bool operator==(const Wide& a, const Wide& b) { return a.limbs_ == b.limbs_; }
    friend bool operator<(const Wide& a, const Wide& b) {
        if (a.is_negative() != b.is_negative()) return a.is_negative();
        for (int i = N; i-- > 0;)
            if (a.limbs_[i] != b.limbs_[i]) return a.limbs_[i] < b.limbs_[i];
        return false;
    }
    friend bool operator>=(const Wide& a, const Wide& b) { return !(a < b); }

    // Bits up to the highest that is set, of a number that is not negative.
    int width() const {
        for (int i = N; i-- > 0;)
            if (limbs_[i]) return 64 * i + std::bit_width(limbs_[i]);
        return 0;
    }
    // Zeros below the lowest bit that is set; 64 * N for 0.
    int trailing_zeros() const {
        for (int i = 0; i < N; ++i)
            if (limbs_[i]) return 64 * i + std::countr_zero(limbs_[i]);
        return 64 * N;
    }

    // In decimal, of a number that is not negative.
    std::string text() const {
        std::string digits;
        for (Wide rest = *this; digits.empty() || !rest.is_zero();)
            digits.insert(digits.begin(), static_cast<char>('0' + rest.divide_by(10)));
        return digits;
    }

private:
    static constexpr std::uint64_t kHalf = 0xFFFFFFFF;
    std::array<std::uint64_t, N> limbs_{};  // the lowest first
};

}  // namespace remapnd
