import { defineCheck, deny } from "../check.ts"

/** The tool's `rateLimit`. The store counts; its answer comes with the call. */
export const rateLimitCheck = defineCheck({
  name: "limit",
  stage: "deny",
  source: ({ tool }) => tool.permissionSources?.rateLimit ?? tool.id,
  look({ limit }) {
    if (limit.ok) return undefined
    const { sentence, retryAfterMs } = limit
    const fix = () => `Wait ${Math.ceil(retryAfterMs / 1000)} s`
    return deny("rate_limited", undefined, { words: { sentence }, ending: "rate_limited", retryAfterMs, fix })
  },
  sentences: {
    rate_limited: ({ sentence }: { sentence: string }) => sentence,
  },
  passes: () => "No rate limit is reached.",
})
