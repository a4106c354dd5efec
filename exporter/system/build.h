/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * True in a build with a sanitizer, which traces its own process, runs programs and calls what
 * our filter refuses: there hardening is left away.
 */
#ifdef __has_feature
#define HARDENING_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HARDENING_SANITIZED 1
#else
#define HARDENING_SANITIZED 0
#endif
