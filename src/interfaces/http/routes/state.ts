import { z } from "zod"
import { endpoint, RawReply, type Endpoint } from "./endpoint.ts"
import { metrics } from "./metrics.ts"
import { HttpProblem } from "./problem.ts"

const health = (path: string) =>
  endpoint({
    method: "get",
    path,
    summary: "Whether the store can write.",
    tag: "Server",
    scope: "nobody",
    answers: { 200: z.object({ status: z.literal("ok") }) },
    async handle({ api: { app } }) {
      const problem = await app.health().catch(() => "The state of the store could not be determined.")
      if (problem !== undefined) throw new HttpProblem(503, problem, { code: "store_unavailable" })
      return { status: "ok" }
    },
  })

/** The health checks, and numbers for Prometheus. */
export const stateEndpoints: readonly Endpoint[] = [
  endpoint({
    method: "get",
    path: "/metrics",
    summary: "Numbers in the text format of Prometheus.",
    tag: "Server",
    scope: "read",
    media: "text/plain",
    answers: { 200: z.string() },
    handle: async ({ api: { app } }) =>
      new RawReply(await metrics(app), { "content-type": "text/plain; version=0.0.4; charset=utf-8" }),
  }),
  health("/healthz"),
  health("/readyz"),
]
