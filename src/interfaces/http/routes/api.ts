import { OpenAPIHono } from "@hono/zod-openapi"
import type { Context } from "hono"
import { bodyLimit } from "hono/body-limit"
import { answer, problemAnswer, requireCaller, type Answered, type Incoming } from "./answer.ts"
import { endpoints } from "./endpoints.ts"
import type { Api, Endpoint } from "./endpoint.ts"
import { eventStream } from "./events.ts"
import { metrics } from "./metrics.ts"
import { documentOtherPaths } from "./other-paths.ts"
import { bodyTooLong, HttpProblem } from "./problem.ts"
import { problem } from "./schemas.ts"
import { sessionRoutes } from "./session.ts"

export interface ApiOptions {
  maxBodyBytes: number
}

/** The API under /v1, with its OpenAPI document at /openapi.json. */
export function createApi(api: Api, { maxBodyBytes }: ApiOptions): OpenAPIHono {
  const hono = new OpenAPIHono()
  hono.onError((error) => responseOf(problemAnswer(error)))
  hono.notFound(() =>
    responseOf(
      problemAnswer(
        new HttpProblem(404, "There is nothing at this address. /openapi.json lists what there is.", {
          code: "no_such_path",
        }),
      ),
    ),
  )
  hono.on(
    ["POST", "PUT", "PATCH"],
    "/v1/*",
    bodyLimit({
      maxSize: maxBodyBytes,
      onError() {
        throw bodyTooLong(maxBodyBytes)
      },
    }),
  )
  sessionRoutes(hono, api)
  hono.get("/v1/events", (context) => {
    const incoming = incomingOf(context)
    return eventStream(context, api, () => requireCaller(incoming, api, "any"))
  })
  for (const each of endpoints) {
    document(hono, each)
    hono.on(each.method.toUpperCase(), honoPath(each.path), (context) => answerWithHono(context, api, each))
  }
  hono.get("/metrics", async (context) => {
    requireCaller(incomingOf(context), api, "read")
    return context.text(await metrics(api.app), 200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" })
  })
  documentOtherPaths(hono)
  hono.openAPIRegistry.registerComponent("securitySchemes", "bearer", { type: "http", scheme: "bearer" })
  let cached: unknown
  hono.get("/openapi.json", (context) => {
    cached ??= hono.getOpenAPI31Document({
      openapi: "3.1.0",
      info: { title: "Quartermaster", version: api.version },
      security: [{ bearer: [] }],
    })
    return context.json(cached as object)
  })
  return hono
}

/** A request as Hono has it. */
function incomingOf({ req }: Context): Incoming {
  return { method: req.method, header: (name) => req.header(name) }
}

async function answerWithHono(context: Context, api: Api, each: Endpoint): Promise<Response> {
  const { req } = context
  const answered = await answer(each, api, {
    ...incomingOf(context),
    params: req.param(),
    query: req.query(),
    text: () => req.text(),
    bytes: async () => new Uint8Array(await req.arrayBuffer()),
    get signal() {
      return req.raw.signal
    },
  })
  return answered instanceof Response ? answered : responseOf(answered)
}

function responseOf({ status, headers, text }: Answered): Response {
  return new Response(text, { status, headers })
}

/** `/v1/calls/{id}` → `/v1/calls/:id` */
function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1")
}

function document(
  hono: OpenAPIHono,
  { method, path, summary, tag, scope, params, query, body, answers }: Endpoint,
): void {
  const described = Object.entries(answers).map(([status, schema]) => [
    status,
    schema === undefined
      ? { description: "Done." }
      : { description: "The answer.", content: { "application/json": { schema } } },
  ])
  hono.openAPIRegistry.registerPath({
    method,
    path,
    summary,
    tags: [tag],
    description: scope === "any" ? "For everybody who is signed in." : `Needs the scope ${scope}.`,
    request: {
      ...(params === undefined ? {} : { params }),
      ...(query === undefined ? {} : { query }),
      ...(body === undefined ? {} : { body: { content: { "application/json": { schema: body } }, required: true } }),
    },
    responses: {
      ...Object.fromEntries(described),
      default: { description: "A problem.", content: { "application/problem+json": { schema: problem } } },
    },
  })
}
