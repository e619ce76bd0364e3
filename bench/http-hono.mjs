/** Hono on the same node-server, with the same validation and an answer of the same shape. Nothing is decided or recorded. */
import { randomUUID } from "node:crypto"
import { createServer } from "node:http"
import { getRequestListener } from "@hono/node-server"
import { Hono } from "hono"
import { z } from "zod"
import { callBody } from "../build/interfaces/http/routes/tool-schemas.js"

const params = z.object({ name: z.string().min(1) })
const input = z.strictObject({ timezone: z.string().optional() })
const hono = new Hono()
hono.post("/v1/tools/:name/call", async (context) => {
  const { name } = params.parse(context.req.param())
  const body = callBody.parse(await context.req.json())
  const { timezone = "UTC" } = input.parse(body.input)
  const startedAt = Date.now()
  const result = { timestamp: startedAt, iso: new Date(startedAt).toISOString(), timezone }
  const metadata = { executionTime: 0 }
  return context.json({
    callId: randomUUID(), toolName: name, version: "1.0.0", startedAt, completedAt: startedAt, durationMs: 0,
    metadata, status: "success", success: true, result,
  }) // prettier-ignore
})
const listener = getRequestListener(hono.fetch, { overrideGlobalObjects: false })
const server = createServer((request, response) => void listener(request, response))
server.listen(0, "127.0.0.1", () => process.send({ port: server.address().port, token: "none" }))
process.on("disconnect", () => process.exit())
