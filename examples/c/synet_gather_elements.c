/* Simd's SynetGatherElements with constant indices, and what becomes of an index that is out of range.

   cc synet_gather_elements.c -I<prefix>/include -L<prefix>/lib -lremapnd */
#include <stdio.h>

#include "remapnd.h"

int main(void) {
    const size_t outer[] = {2};
    const float src[] = {0, 1, 2, 3, 4, 5, 6, 7};
    const int32_t idx[] = {0, 2, -1, 0, 2, -1}, bad[] = {0, 2, 1, 3, 1, 4};
    float dst[6];
    remapnd_synet_gather_elements *gather;
    int i;

    if (remapnd_synet_gather_elements_init(REMAPND_TENSOR_32F, REMAPND_TENSOR_32I, 1, 1, outer, 1, 4, 1, 3, &gather)) {
        fprintf(stderr, "%s\n", remapnd_last_error());
        return 1;
    }
    if (remapnd_synet_gather_elements_set_index(gather, (const uint8_t *)bad) == REMAPND_INDEX_OUT_OF_RANGE)
        puts(remapnd_last_error());
    if (remapnd_synet_gather_elements_set_index(gather, (const uint8_t *)idx) ||
        remapnd_synet_gather_elements_forward(gather, (const uint8_t *)src, NULL, (uint8_t *)dst)) {
        fprintf(stderr, "%s\n", remapnd_last_error());
        remapnd_synet_gather_elements_release(gather);
        return 1;
    }
    for (i = 0; i < 6; ++i) printf(i < 5 ? "%g " : "%g\n", dst[i]);
    printf("%d bytes of indices held\n", (int)remapnd_synet_gather_elements_internal_buffer_size(gather));
    remapnd_synet_gather_elements_release(gather);
    return 0;
}
