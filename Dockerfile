# The images of rpc-router: targets `router`, `operator` and `cache`. `make images` bundles the
# programs before the build, which fetches and compiles nothing.
#
# NODE  an image with Node 26 in PATH, and a shell. If it has `strip`, Node loses its symbols
# BASE  the base of the images. The default is empty: no shell, no packages
ARG NODE=node:26.10.0-bookworm
ARG BASE=scratch

# Node and its shared libraries.
FROM ${NODE} AS node
RUN set -eu; \
    program=$(readlink -f "$(command -v node)"); \
    mkdir -p /image/usr/local/bin /image/etc /image/tmp; \
    chmod 1777 /image/tmp; \
    cp "$program" /image/usr/local/bin/node; \
    if command -v strip >/dev/null; then strip /image/usr/local/bin/node; fi; \
    for library in $(ldd "$program" | grep -o '/[^ ]*'); do \
      mkdir -p "/image$(dirname "$library")"; \
      cp -L "$library" "/image$library"; \
      dirname "$library" >>/image/etc/ld.so.conf; \
    done; \
    ldconfig -r /image; \
    # Resolves names from the hosts file first, which is the usual default.
    echo 'hosts: files dns' >/image/etc/nsswitch.conf

FROM ${BASE} AS common
COPY --from=node /image /
COPY LICENSE NOTICE /app/
ARG VERSION
ARG REVISION
ARG SOURCE
LABEL org.opencontainers.image.version=${VERSION} \
      org.opencontainers.image.revision=${REVISION} \
      org.opencontainers.image.source=${SOURCE} \
      org.opencontainers.image.licenses=Apache-2.0 \
      org.opencontainers.image.vendor="The rpc-router Authors"
# The user is numeric, so that Kubernetes can verify that it is not root.
USER 65532:65532
WORKDIR /app
ENV NODE_ENV=production

# Limits malloc to one arena, returns large blocks to the system, and limits V8's young generation:
# see bin/router.mjs.
FROM common AS with-router
COPY dist/specs /app/dist/specs
COPY dist/bin/cache.proto dist/bin/router* /app/dist/bin/
ENV MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=131072

# The "--" keeps Node from parsing --env-file as its own option.
FROM with-router AS router
LABEL org.opencontainers.image.title="rpc-router"
ENTRYPOINT ["/usr/local/bin/node", "--max-semi-space-size=16", "--", "/app/dist/bin/router.mjs"]

FROM with-router AS cache
LABEL org.opencontainers.image.title="rpc-router-cache"
ENTRYPOINT ["/usr/local/bin/node", "--max-semi-space-size=16", "--", "/app/dist/bin/router.mjs", "cache"]

# The operator has the same chain specs as the router, so that it validates configs as the pods do.
FROM common AS operator
COPY dist/specs /app/dist/specs
COPY dist/bin/rpc-operator* /app/dist/bin/
LABEL org.opencontainers.image.title="rpc-router-operator"
ENTRYPOINT ["/usr/local/bin/node", "--", "/app/dist/bin/rpc-operator.mjs"]
