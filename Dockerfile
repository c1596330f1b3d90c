# The images of rpc-router: targets `router`, `operator` and `cache`. Build them by `make images`, which bundles the
# programs first: nothing is fetched or compiled here.
#
# NODE  an image with Node 26 in PATH, and a shell; where it has `strip`, the symbols of Node are left out
# BASE  what the images are made on. The default has nothing but what is copied here: no shell, no packages
ARG NODE=node:26.10.0-bookworm
ARG BASE=scratch

# Node, and the libraries that it is linked to.
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
    # Names are looked up in the file of hosts first, as everywhere.
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
# A number, so that Kubernetes can see that it is not root.
USER 65532:65532
WORKDIR /app
ENV NODE_ENV=production

# One arena of the C library, and long blocks go back to the system; few young objects: see bin/router.mjs.
FROM common AS with-router
COPY dist/specs /app/dist/specs
COPY examples/ethereum.yml /app/examples/
COPY dist/bin/cache.proto dist/bin/router* /app/dist/bin/
ENV MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=131072

# The two dashes keep --env-file from Node, which has an option of that name.
FROM with-router AS router
LABEL org.opencontainers.image.title="rpc-router"
ENTRYPOINT ["/usr/local/bin/node", "--max-semi-space-size=16", "--", "/app/dist/bin/router.mjs"]

FROM with-router AS cache
LABEL org.opencontainers.image.title="rpc-router-cache"
ENTRYPOINT ["/usr/local/bin/node", "--max-semi-space-size=16", "--", "/app/dist/bin/router.mjs", "cache"]

# The operator compiles the same chain specs as the router, so that it validates a config as the pods do.
FROM common AS operator
COPY dist/specs /app/dist/specs
COPY dist/bin/rpc-operator* /app/dist/bin/
LABEL org.opencontainers.image.title="rpc-router-operator"
ENTRYPOINT ["/usr/local/bin/node", "--", "/app/dist/bin/rpc-operator.mjs"]
