# The program: the content of the npm package, built from this checkout.
FROM node:24 AS build
WORKDIR /source
COPY . .
RUN npm ci --ignore-scripts && npm run build && npm pack --silent ./dist \
  && mkdir /package && tar -xzf rapport-server-*.tgz --strip-components 1 -C /package \
  && sh release/image.sh /package node_modules/.bin/node /image

# One static file of 1 MB asks for the health of the service. A Node for each check would cost 40 MB and 50 ms of a core.
FROM busybox:1.37-musl AS busybox

FROM scratch
COPY --from=build /image /
COPY --from=busybox /bin/busybox /bin/wget
# An empty folder gets its owner here.
COPY --from=build --chown=65532:65532 /image/data /data

ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
WORKDIR /data
VOLUME /data
EXPOSE 3000
USER 65532:65532

# Whether the process answers, not whether its database does (/readyz): a restart would not bring that back. Keep PORT, and
# publish another port with -p. Docker 25 and newer check every 5 s until the first success, so a start is noticed early.
HEALTHCHECK --interval=30s --timeout=3s --start-period=60s --retries=3 \
  CMD ["/bin/wget", "-q", "-O", "/dev/null", "http://127.0.0.1:3000/healthz"]

# In this form the signals reach Node itself: docker stop lets requests and deliveries in flight finish.
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/local/bin/node", "/app/main.js"]
CMD ["serve"]
