# The web app, built as the first start of an installation would.
FROM node:24-slim AS web
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY web ./web
RUN npm ci --ignore-scripts && npm run --prefix web build

# The packages, and the Node that package.json pins. This image's own Node only runs npm.
FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts
# Of Node the program and its licence; of the packages what runs. An empty folder gets its owner below.
RUN mkdir -p /node /data \
  && cp -L node_modules/.bin/node /node/node \
  && cp node_modules/node-linux-*/LICENSE /node/LICENSE \
  && rm -rf node_modules/node-linux-* node_modules/.bin node_modules/.package-lock.json \
  && find node_modules -type f -regex '.*\.\(d\.[cm]?ts\|map\)' -delete

# The libraries that Node is linked to, and nothing else: no shell, no package manager.
FROM gcr.io/distroless/cc-debian13:nonroot
WORKDIR /app
COPY --from=build /node/node /usr/local/bin/node
COPY --from=build /node/LICENSE /usr/local/share/doc/node/LICENSE
COPY --from=build /app/node_modules ./node_modules
COPY --from=build --chown=65532:65532 /data /data
COPY package.json LICENSE ./
COPY src ./src
COPY --from=web /app/web/dist ./web/dist

ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
VOLUME /data
EXPOSE 3000
USER 65532:65532

# Whether the process answers, not whether its database does (/readyz): a restart would not bring that back.
HEALTHCHECK --interval=5s --timeout=3s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]

# In this form the signals reach Node itself: docker stop lets requests and deliveries in flight finish.
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "/app/src/main.ts"]
CMD ["serve"]
