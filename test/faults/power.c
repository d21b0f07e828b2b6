/*
 * A disk that loses everything that was not synced. Loaded before libc (LD_PRELOAD) into the processes of a database: what
 * they sync below POWER_DISK is copied to POWER_SHADOW, and names there follow at once. After a kill the shadow is
 * what a machine finds when its power comes back. A copy that the kill cuts short is a sync that never returned.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK 65536

static const char *below_disk(const char *path) {
  const char *disk = getenv("POWER_DISK");
  if (!disk) return NULL;
  size_t length = strlen(disk);
  return strncmp(path, disk, length) == 0 && path[length] == '/' ? path + length : NULL;
}

/* The name's place in the shadow; 0 for names elsewhere. */
static int shadowed(const char *path, char *out) {
  char whole[PATH_MAX];
  if (path[0] != '/') {
    char folder[PATH_MAX];
    if (!getcwd(folder, sizeof folder)) return 0;
    if (snprintf(whole, sizeof whole, "%s/%s", folder, path) >= (int)sizeof whole) return 0;
    path = whole;
  }
  const char *rest = below_disk(path);
  const char *shadow = getenv("POWER_SHADOW");
  if (!rest || !shadow) return 0;
  return snprintf(out, PATH_MAX, "%s%s", shadow, rest) < PATH_MAX;
}

static void make_folders(char *path) {
  for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
    *at = 0;
    mkdir(path, 0777);
    *at = '/';
  }
}

/* Block by block in place: what is half copied is newer data that reached the disk by itself. */
static void copy(int from, int to) {
  static __thread char ours[BLOCK], theirs[BLOCK];
  off_t at = 0;
  for (;;) {
    ssize_t count = pread(from, ours, BLOCK, at);
    if (count <= 0) break;
    ssize_t before = pread(to, theirs, count, at);
    if (before != count || memcmp(ours, theirs, count) != 0)
      if (pwrite(to, ours, count, at) != count) abort();
    at += count;
  }
  if (ftruncate(to, at) != 0) abort();
}

static void keep(int fd) {
  int saved = errno;
  char link[64], path[PATH_MAX], target[PATH_MAX];
  struct stat found;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length > 0) {
    path[length] = 0;
    /* A file that has lost its name is nobody's after a power cut. */
    if (shadowed(path, target) && fstat(fd, &found) == 0 && found.st_nlink > 0) {
      make_folders(target);
      if (S_ISDIR(found.st_mode)) mkdir(target, 0777);
      else {
        int from = open(path, O_RDONLY | O_CLOEXEC), to = open(target, O_RDWR | O_CREAT | O_CLOEXEC, found.st_mode & 0777);
        if (from < 0 || to < 0) abort();
        copy(from, to);
        close(from);
        close(to);
      }
    }
  }
  errno = saved;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int fsync(int fd) {
  int result = REAL(fsync)(fd);
  if (result == 0) keep(fd);
  return result;
}

int fdatasync(int fd) {
  int result = REAL(fdatasync)(fd);
  if (result == 0) keep(fd);
  return result;
}

int rename(const char *from, const char *to) {
  int result = REAL(rename)(from, to);
  char old[PATH_MAX], new[PATH_MAX];
  if (result == 0 && shadowed(from, old) && shadowed(to, new)) {
    int saved = errno;
    make_folders(new);
    REAL(rename)(old, new);
    errno = saved;
  }
  return result;
}

int unlink(const char *path) {
  int result = REAL(unlink)(path);
  char gone[PATH_MAX];
  if (result == 0 && shadowed(path, gone)) {
    int saved = errno;
    REAL(unlink)(gone);
    errno = saved;
  }
  return result;
}
