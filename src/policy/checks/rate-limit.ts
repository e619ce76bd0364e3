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
    rate_limited: { en: ({ sentence }: { sentence: string }) => sentence, zh: "已达到调用限额：{text}" },
  },
  passes: { en: () => "No rate limit is reached.", zh: "未达到调用限额。" },
})
