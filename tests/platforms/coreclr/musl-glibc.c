/* What Debian's libraries for C++, cryptography and JPEG, built for glibc, lack under musl: enough for .NET's musl runtime to run tests on Debian. Alpine has libraries of its own.
   musl takes the names libc.so.6, libm.so.6 and so on for itself. This is built as ld-linux-x86-64.so.2, which those libraries name too. */
#define _GNU_SOURCE
#include <errno.h>
#include <link.h>
#include <locale.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/select.h>
#include <syslog.h>
#include <time.h>

char __libc_single_threaded = 0;

unsigned arc4random(void)
{
    unsigned value;
    getrandom(&value, sizeof value, 0);
    return value;
}

size_t __strftime_l(char *to, size_t size, const char *format, const struct tm *time, locale_t locale)
{
    return strftime_l(to, size, format, time, locale);
}

/* Of libgcc: no instruction beyond the oldest processor's. */
struct { unsigned vendor, type, subtype, features[1]; } __cpu_model;
int __cpu_indicator_init(void) { return 0; }

/* The checks of _FORTIFY_SOURCE, without the checks. */
void *__memcpy_chk(void *to, const void *from, size_t size, size_t room) { return memcpy(to, from, size); }
void *__memset_chk(void *to, int value, size_t size, size_t room) { return memset(to, value, size); }
char *__strcat_chk(char *to, const char *from, size_t room) { return strcat(to, from); }
long __fdelt_chk(long file) { return file / (8 * sizeof(long)); }
int __vfprintf_chk(FILE *file, int flag, const char *format, va_list list) { return vfprintf(file, format, list); }

int __fprintf_chk(FILE *file, int flag, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int written = vfprintf(file, format, list);
    va_end(list);
    return written;
}

int __sprintf_chk(char *to, int flag, size_t room, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int written = vsprintf(to, format, list);
    va_end(list);
    return written;
}

int __snprintf_chk(char *to, size_t size, int flag, size_t room, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int written = vsnprintf(to, size, format, list);
    va_end(list);
    return written;
}

size_t __fread_chk(void *to, size_t room, size_t size, size_t count, FILE *file) { return fread(to, size, count, file); }
void __longjmp_chk(jmp_buf to, int value) { longjmp(to, value); }

void __syslog_chk(int priority, int flag, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsyslog(priority, format, list);
    va_end(list);
}

/* OpenSSL's asynchronous jobs, which .NET does not use. */
int getcontext(void *context) { return errno = ENOSYS, -1; }
int setcontext(const void *context) { return errno = ENOSYS, -1; }
void makecontext(void *context, void (*function)(void), int count, ...) { abort(); }

/* Destructors of thread-local objects of C++: a list for each thread, which the destructor of a key runs. */
struct destructor { void (*run)(void *); void *object; struct destructor *next; };
static __thread struct destructor *destructors;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void run_all(void *ignored)
{
    while (destructors) {
        struct destructor *first = destructors;
        destructors = first->next;
        first->run(first->object);
        free(first);
    }
}

static void make_key(void) { pthread_key_create(&key, run_all); }

int __cxa_thread_atexit_impl(void (*run)(void *), void *object, void *library)
{
    struct destructor *made = malloc(sizeof *made);
    *made = (struct destructor){ run, object, destructors };
    destructors = made;
    pthread_once(&once, make_key);
    pthread_setspecific(key, &destructors);
    return 0;
}

/* Where exceptions are unwound: as glibc 2.35 declares it. */
struct dl_find_object { unsigned long long flags; void *start, *end, *link_map, *frames; unsigned long long reserved[7]; };
struct search { unsigned long address; struct dl_find_object *result; };

static int look(struct dl_phdr_info *library, size_t size, void *argument)
{
    struct search *search = argument;
    unsigned long lowest = -1UL, highest = 0;
    void *frames = NULL;
    int contains = 0;
    for (int i = 0; i < library->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &library->dlpi_phdr[i];
        unsigned long start = library->dlpi_addr + header->p_vaddr, end = start + header->p_memsz;
        if (header->p_type == PT_GNU_EH_FRAME) frames = (void *)start;
        if (header->p_type != PT_LOAD) continue;
        if (start < lowest) lowest = start;
        if (end > highest) highest = end;
        contains |= search->address >= start && search->address < end;
    }

    if (!contains || !frames) return 0;
    *search->result = (struct dl_find_object){ 0, (void *)lowest, (void *)highest, NULL, frames, { 0 } };
    return 1;
}

int _dl_find_object(void *address, struct dl_find_object *result)
{
    struct search search = { (unsigned long)address, result };
    return dl_iterate_phdr(look, &search) ? 0 : -1;
}
