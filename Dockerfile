# The service, as a user without rights, with its own health check.
FROM oven/bun:1.4.5-slim AS build
WORKDIR /app
COPY package.json bun.lock bunfig.toml tsconfig.json ./
COPY patches ./patches
COPY src/checkout/package.json ./src/checkout/
COPY src/dashboard/browser/package.json ./src/dashboard/browser/
COPY src/packages/agent-proxy/package.json ./src/packages/agent-proxy/
COPY src/packages/checkout/package.json ./src/packages/checkout/
COPY src/packages/cli/package.json ./src/packages/cli/
COPY src/packages/client/package.json ./src/packages/client/
COPY src/packages/medusa/package.json ./src/packages/medusa/
RUN bun install --frozen-lockfile
COPY LICENSE ./
COPY docs/guides ./docs/guides
COPY migrations ./migrations
COPY src ./src
RUN bun src/platform/pages/build.ts && bun src/app/packages/build.ts && bun src/app/guides/build.ts

FROM oven/bun:1.4.5-slim
WORKDIR /app
COPY package.json bun.lock bunfig.toml tsconfig.json ./
COPY patches ./patches
COPY src/checkout/package.json ./src/checkout/
COPY src/dashboard/browser/package.json ./src/dashboard/browser/
COPY src/packages/agent-proxy/package.json ./src/packages/agent-proxy/
COPY src/packages/checkout/package.json ./src/packages/checkout/
COPY src/packages/cli/package.json ./src/packages/cli/
COPY src/packages/client/package.json ./src/packages/client/
COPY src/packages/medusa/package.json ./src/packages/medusa/
RUN bun install --frozen-lockfile --production
COPY migrations ./migrations
COPY docs/guides ./docs/guides
COPY src ./src
COPY --from=build /app/dist ./dist
RUN mkdir -p /data && chown bun:bun /data
USER bun
ENV HOST=0.0.0.0 PORT=8787 DATA_DIR=/data
# The heap grows as on a machine of 1 GiB, whatever the host has: nearly half the memory under load.
# Machine code is made of what runs often, not of what runs at the start: 18 MB.
ENV BUN_JSC_forceRAMSize=1073741824 BUN_JSC_smallHeapGrowthFactor=2 BUN_JSC_thresholdForJITAfterWarmUp=5000 BUN_JSC_thresholdForOptimizeAfterWarmUp=3000
# What is freed is used again within moments; given back to the system, each page of it is a fault again.
ENV MIMALLOC_PURGE_HOLES=0 MIMALLOC_PURGE_DELAY=1000
# 8787 is the service; 9464 the metrics, where METRICS_PORT asks for them.
EXPOSE 8787 9464
# Alive, also while it migrates the database: a container that is ended for that begins anew. Ready is /readyz.
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
  CMD ["bun", "-e", "process.exit((await fetch('http://127.0.0.1:' + process.env.PORT + '/healthz')).ok ? 0 : 1)"]
CMD ["bun", "dist/main.js"]
