# syntax=docker/dockerfile:1
#
#   docker build -t postern --build-arg COMMIT=$(git rev-parse HEAD) .
#   docker run --rm -p 8000:8000 -v ./postern.yaml:/etc/postern/postern.yaml:ro postern
#
# The last stage contains only what the gateway needs: no compiler, no tests, no npm.
# No stage runs install scripts of packages. docs/image.md has the build for two architectures.

# A digest names one image forever, a tag does not. To renew it, print the digest and replace it here:
#   docker buildx imagetools inspect node:24-bookworm-slim --format '{{.Manifest.Digest}}'
ARG BASE=docker.io/library/node:24.21.0-bookworm-slim@sha256:d6aa754f16b3197301076f047b5def2f02ea1dbbc2ca920407d46d7ec7f87b20

# What the first two stages make is the same for every architecture, so they run on that of the builder.
FROM --platform=$BUILDPLATFORM ${BASE} AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY src src
RUN node node_modules/typescript/bin/tsc -p tsconfig.build.json
COPY scripts/bundle.mjs scripts/
RUN node scripts/bundle.mjs
COPY client client
COPY console console
RUN node node_modules/vite/bin/vite.js build console
# The context has no .git; without the argument, `postern version` reports the commit as unknown.
ARG COMMIT
RUN printf '%s' "$COMMIT" > dist/commit

FROM --platform=$BUILDPLATFORM ${BASE} AS packages
WORKDIR /packages
COPY package.json package-lock.json .npmrc ./
# The base image has Node, so the optional package with the Node runtime is omitted.
RUN npm ci --ignore-scripts --omit=dev --omit=optional

FROM ${BASE}
# An attacker who gets in cannot use tools that are not installed, nor programs that run as root.
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack \
      /opt/yarn-* /usr/local/bin/yarn /usr/local/bin/yarnpkg \
 && find / -xdev -type f -perm /6000 -exec chmod a-s {} + \
 && install -d -o 65532 -g 65532 /var/lib/postern \
 && printf '#!/bin/sh\nexec node --v8-pool-size=1 --max-semi-space-size=16 /app/dist/main.js "$@"\n' > /usr/local/bin/postern \
 && chmod 0755 /usr/local/bin/postern
COPY --from=packages /packages/node_modules /app/node_modules
COPY --from=build /build/dist /app/dist
COPY package.json /app/
COPY config /app/config
COPY policies /app/policies
COPY samples /app/samples
ENV NODE_ENV=production \
    POSTERN_CONFIG=/etc/postern/postern.yaml
# The only directory that Postern writes to; the root file system can be read-only.
WORKDIR /var/lib/postern
# A numeric user, so that Kubernetes can verify runAsNonRoot.
USER 65532:65532
EXPOSE 8000 9100
# Liveness, not readiness: a gateway that waits for its policy must not be restarted.
# It asks the port of the configuration.
HEALTHCHECK --interval=30s --timeout=10s --start-period=20s CMD ["postern", "status", "--live"]
ARG COMMIT
LABEL org.opencontainers.image.title="Postern" \
      org.opencontainers.image.description="API gateway and reverse-proxy sidecar: login, identity, Casbin permission check, then forward." \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.revision="$COMMIT"
ENTRYPOINT ["postern"]
CMD ["serve"]
