/* plugin_host PLUGIN: loads and unloads a C++ plugin again and again. */
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char** arguments) {
  if (count != 2) return 2;
  for (int round = 0; round < 200; ++round) {
    void* plugin = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (plugin == NULL) {
      puts(dlerror());
      return 1;
    }
    int (*run)(int);
    *(void**)&run = dlsym(plugin, "plugin_run");
    for (int i = 0; i < 20; ++i) {
      int code = run(round * 20 + i);
      if (code != 0) return 10 + code;
    }
    dlclose(plugin);
  }
  return 0;
}
