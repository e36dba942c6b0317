# The service, run by an unprivileged user, with a health check.
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
RUN bun run build

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
# Limits the heap as on a machine of 1 GiB, which saves nearly half of the memory under load. Compiles only code that runs
# often, which saves 18 MB. See docs/operating.md, "The build".
ENV BUN_JSC_forceRAMSize=1073741824 BUN_JSC_smallHeapGrowthFactor=2 BUN_JSC_thresholdForJITAfterWarmUp=5000 BUN_JSC_thresholdForOptimizeAfterWarmUp=3000
# Lets the process reuse freed memory instead of returning it, which avoids page faults.
ENV MIMALLOC_PURGE_HOLES=0 MIMALLOC_PURGE_DELAY=1000
# 8787 is the service's port; 9464 is for metrics, if METRICS_PORT sets it.
EXPOSE 8787 9464
# /healthz answers during migrations too, so no container is restarted during one. /readyz shows readiness.
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
  CMD ["bun", "-e", "process.exit((await fetch('http://127.0.0.1:' + process.env.PORT + '/healthz')).ok ? 0 : 1)"]
CMD ["bun", "dist/main.js"]
