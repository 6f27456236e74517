# The command, and with it the embedded service:
#   docker run --rm --read-only -v "$PWD:/work" --user "$(id -u)" -e SETPOINT_API_KEY IMAGE plan
#   docker run --rm --read-only -p 3000:3000 -e SESSION_API_KEY IMAGE serve --port 0.0.0.0:3000
# It writes nowhere but under /work: mount the folder of settings.yaml there. Where setpoint keeps state (.setpoint/: "embedded:",
# fingerprints) or writes files (pull, init, -o json=FILE), that folder has to be writable for the user the container runs as.
ARG NODE_IMAGE=node:24-alpine
# "@sha256:..." of the base that was reviewed: `docker buildx imagetools inspect node:24-alpine` says it. It is empty here, because
# nothing was released yet; a build that is handed out names it, --build-arg NODE_DIGEST=@sha256:...
ARG NODE_DIGEST=

FROM ${NODE_IMAGE}${NODE_DIGEST} AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY . .
# Readable for every user, whatever the umask of the machine that the sources come from.
RUN npm run build && chmod -R a+rX package.json LICENSE schemas dist

FROM ${NODE_IMAGE}${NODE_DIGEST}
LABEL org.opencontainers.image.title="setpoint" \
      org.opencontainers.image.description="GitOps for an agent platform's settings: a committed settings.yaml is validated, planned, applied and checked for drift" \
      org.opencontainers.image.licenses="MIT"
WORKDIR /opt/setpoint
COPY --from=build /src/package.json /src/LICENSE ./
COPY --from=build /src/schemas ./schemas
COPY --from=build /src/dist/THIRD-PARTY-NOTICES.txt /src/dist/sbom.cdx.json ./dist/
COPY --from=build /src/dist/bin ./dist/bin
# /data is for watch: a volume that is mounted there belongs to this user from the start.
RUN install -d -o 1000 -g 1000 /work /data && echo 'container image' > installed-by
WORKDIR /work
USER 1000:1000
ENTRYPOINT ["node", "/opt/setpoint/dist/bin/setpoint.cjs"]
