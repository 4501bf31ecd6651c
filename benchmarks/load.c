/* A client that costs little: as many requests as a service answers, one after the other on each connection.

       cc -O2 -pthread load.c -o load && ./load PORT CONNECTIONS SECONDS REQUEST

   REQUEST is a file with a whole HTTP request, head and body. It is sent by sendfile, so that its pages reach the
   socket without a copy: client and server share the processors, and what the client takes, the server lacks.
   Prints how many answers came with status 200, and how many with another; ends with 1 if a connection breaks. */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 1 << 20 };
static int port, file;
static off_t size;
static double end;

struct counts {
  long right, wrong;
};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

static void fail(const char *what) {
  perror(what);
  exit(1);
}

/* Reads one answer, which has a content-length; gives its status. */
static int answer(int line, char *text) {
  long have = 0, whole = 0;
  while (whole == 0 || have < whole) {
    ssize_t n = recv(line, text + have, MOST - 1 - have, 0);
    if (n <= 0) fail("an answer was cut off");
    have += n;
    text[have] = 0;
    char *body = whole ? NULL : strstr(text, "\r\n\r\n");
    if (body) {
      char *length = strcasestr(text, "content-length:");
      if (!length || length > body) fail("an answer without content-length");
      whole = body + 4 - text + atol(length + 15);
      if (whole >= MOST) fail("an answer too long for this client");
    }
  }
  return atoi(text + 9);
}

static void *ask(void *given) {
  struct counts *counts = given;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int line = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
  if (line < 0 || connect(line, (struct sockaddr *)&address, sizeof address)) fail("connect");
  setsockopt(line, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  char *text = malloc(MOST);
  while (now() < end) {
    off_t sent = 0;
    while (sent < size)
      if (sendfile(line, file, &sent, size - sent) <= 0) fail("sendfile");
    *(answer(line, text) == 200 ? &counts->right : &counts->wrong) += 1;
  }
  close(line);
  free(text);
  return NULL;
}

int main(int n, char **words) {
  if (n != 5) return fprintf(stderr, "load PORT CONNECTIONS SECONDS REQUEST\n"), 2;
  int connections = atoi(words[2]);
  struct stat about;
  port = atoi(words[1]);
  file = open(words[4], O_RDONLY);
  if (file < 0 || fstat(file, &about)) fail(words[4]);
  size = about.st_size;
  end = now() + atof(words[3]);
  pthread_t threads[connections];
  struct counts counts[connections];
  memset(counts, 0, sizeof counts);
  double begin = now();
  for (int i = 0; i < connections; i++)
    if (pthread_create(&threads[i], NULL, ask, &counts[i])) fail("a thread");
  long right = 0, wrong = 0;
  for (int i = 0; i < connections; i++) {
    pthread_join(threads[i], NULL);
    right += counts[i].right;
    wrong += counts[i].wrong;
  }
  printf("%ld %ld %.6f\n", right, wrong, now() - begin);
  return 0;
}
