// The page of the studio, one file made from studio/ and put into the program as it is. SPDX-License-Identifier: Apache-2.0
#include "studio/studio.h"

#ifndef TH_STUDIO_PAGE_FILE
#define TH_STUDIO_PAGE_FILE "/dev/null"
#endif

__asm__(".section .rodata\n"
        ".global th_studio_page\n"
        ".global th_studio_page_end\n"
        "th_studio_page:\n"
        ".incbin \"" TH_STUDIO_PAGE_FILE "\"\n"
        "th_studio_page_end:\n"
        ".byte 0\n"
        ".previous\n");
extern const unsigned char th_studio_page_end[];

size_t th_studio_page_size(void) { return (size_t)(th_studio_page_end - th_studio_page); }
