/* The `dotnet` of a folder that coreclr.sh fills: it starts programs with the folder's runtime, as .NET's own host does, which is in no package. */
#include <dlfcn.h>
#include <glob.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef int main_startupinfo(int argc, const char **argv, const char *host, const char *root, const char *app);

int main(int argc, const char **argv)
{
    char host[PATH_MAX] = "", root[PATH_MAX], app[PATH_MAX + 8], pattern[PATH_MAX + 64];
    if (readlink("/proc/self/exe", host, sizeof host - 1) < 0) {
        perror("/proc/self/exe");
        return 1;
    }

    strcpy(root, host);
    dirname(root);
    snprintf(app, sizeof app, "%s.dll", host);
    snprintf(pattern, sizeof pattern, "%s/host/fxr/*/libhostfxr.so", root);
    glob_t found;
    if (glob(pattern, 0, NULL, &found) != 0) {
        fprintf(stderr, "There is no %s\n", pattern);
        return 1;
    }

    void *library = dlopen(found.gl_pathv[0], RTLD_LAZY);
    main_startupinfo *start = library ? (main_startupinfo *)dlsym(library, "hostfxr_main_startupinfo") : NULL;
    if (!start) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }

    return start(argc, argv, host, root, app);
}
