import { OpenAPIHono } from "@hono/zod-openapi"
import type { z } from "zod"
import { getCookie } from "hono/cookie"
import type { Context } from "hono"
import { bodyLimit } from "hono/body-limit"
import { errorMessage } from "../../lib/error-message.ts"
import { OrganisationError } from "../../model/organisation-admin.ts"
import { StoreUnavailable } from "../../model/ending.ts"
import { issueSentence } from "../../schema/issue-sentence.ts"
import { valueAtPath } from "../../schema/problems.ts"
import { callerOfSession, callerOfToken, sessionCookie, type Caller } from "./caller.ts"
import { endpoints } from "./endpoints.ts"
import { Reply, type Api, type Asked, type Endpoint } from "./endpoint.ts"
import { eventStream } from "./events.ts"
import { metrics } from "./metrics.ts"
import { documentOtherPaths } from "./other-paths.ts"
import { HttpProblem } from "./problem.ts"
import { problem } from "./schemas.ts"
import { sessionRoutes } from "./session.ts"

export interface ApiOptions {
  maxBodyBytes: number
}

/** The API under /v1, with its OpenAPI document at /openapi.json. */
export function createApi(api: Api, { maxBodyBytes }: ApiOptions): OpenAPIHono {
  const hono = new OpenAPIHono()
  hono.onError((error, context) => replyProblem(context, problemOf(error)))
  hono.notFound((context) =>
    replyProblem(
      context,
      new HttpProblem(404, "There is nothing at this address. /openapi.json lists what there is.", {
        code: "no_such_path",
      }),
    ),
  )
  hono.on(
    ["POST", "PUT", "PATCH"],
    "/v1/*",
    bodyLimit({
      maxSize: maxBodyBytes,
      onError() {
        throw new HttpProblem(
          413,
          `The body is longer than ${maxBodyBytes} bytes. Send less, or raise server.maxBodyBytes.`,
          { code: "body_too_long", params: { max: maxBodyBytes } },
        )
      },
    }),
  )
  sessionRoutes(hono, api)
  hono.get("/v1/events", (context) => eventStream(context, api, requireCaller(context, api, "any")))
  for (const each of endpoints) {
    document(hono, each)
    hono.on(each.method.toUpperCase(), honoPath(each.path), (context) => answer(context, api, each))
  }
  hono.get("/metrics", async (context) => {
    requireCaller(context, api, "read")
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

async function answer(context: Context, api: Api, each: Endpoint): Promise<Response> {
  const caller = requireCaller(context, api, each.scope)
  const asked: Asked<unknown, unknown, unknown> = {
    api,
    caller,
    params: each.params && valid(each.params, context.req.param(), "params"),
    query: each.query && valid(each.query, context.req.query(), "query"),
    body: each.body && valid(each.body, await jsonBody(context), "body"),
    headers: { get: (name) => context.req.header(name) },
    get signal() {
      return context.req.raw.signal
    },
  }
  const value = await each.handle(asked as Asked<never, never, never>)
  if (value instanceof Response) return value
  const usual = Number(Object.keys(each.answers)[0])
  const { status, headers, value: body } = value instanceof Reply ? value : new Reply(value, usual)
  if (each.answers[status] === undefined) return new Response(null, { status, headers: { ...plain, ...headers } })
  return new Response(JSON.stringify(body), { status, headers: { ...json, ...headers } })
}

const plain = { "cache-control": "no-store" }
const json = { ...plain, "content-type": "application/json" }

/** Who makes the request. Ends it unless they are signed in and have the scope. */
export function requireCaller(context: Context, api: Api, scope: Endpoint["scope"]): Caller {
  const caller = callerOf(context, api)
  if (caller === undefined) throw unauthorized
  if (caller.sessionId !== undefined) refuseOtherSites(context)
  if (scope !== "any" && !caller.scopes.includes(scope))
    throw new HttpProblem(403, missingScope(caller, scope), {
      code: caller.kind === "agent" ? "agents_only_call" : "missing_scope",
      params: { id: caller.id, scope },
    })
  return caller
}

const unauthorized = new HttpProblem(
  401,
  "Send 'Authorization: Bearer <token>', or sign in with the link that 'qm open' prints.",
  { code: "not_signed_in" },
  { "www-authenticate": 'Bearer realm="quartermaster"' },
)

function callerOf(context: Context, { app }: Api): Caller | undefined {
  const header = context.req.header("authorization")
  if (header !== undefined) {
    const [scheme = "", token = ""] = header.split(" ", 2)
    return scheme.toLowerCase() === "bearer" ? callerOfToken(app, token) : undefined
  }
  const secret = getCookie(context, sessionCookie)
  return secret === undefined ? undefined : callerOfSession(app, secret)
}

/** A page of another site can send the cookie, but not this header: the server allows it to no other site. */
function refuseOtherSites(context: Context): void {
  const isSafe = context.req.method === "GET" || context.req.method === "HEAD"
  if (isSafe || context.req.header("x-quartermaster") === "1") return
  throw new HttpProblem(403, "Send the header 'x-quartermaster: 1' with requests that change something.", {
    code: "missing_header",
  })
}

function missingScope({ kind, id }: Caller, scope: string): string {
  if (kind === "agent") return `This is the token of agent ${id}, which may only call tools. Use a person's token.`
  return scope === "manage"
    ? `${id} may not manage. Only the user of this machine, or people with 'scopes: [manage]' in org.people, may.`
    : `${id} may not do this: the scope '${scope}' is missing. Give it to them in org.people.`
}

async function jsonBody(context: Context): Promise<unknown> {
  const text = await context.req.text()
  if (text === "") return {}
  const type = context.req.header("content-type") ?? ""
  if (!/^application\/([\w.-]+\+)?json\b/i.test(type))
    throw new HttpProblem(415, "Send the body as JSON, with 'content-type: application/json'.", { code: "not_json" })
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw new HttpProblem(400, "The body is not valid JSON.", { code: "invalid_json" })
  }
}

function valid(schema: z.ZodType, value: unknown, part: keyof typeof parts): unknown {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const errors = parsed.error.issues.map((issue) => ({
    path: `/${issue.path.join("/")}`,
    sentence: issueSentence(issue, valueAtPath(value, issue.path)),
  }))
  const [first] = errors
  const name = first === undefined || first.path === "/" ? parts[part] : `'${first.path.slice(1)}' in ${parts[part]}`
  const detail = `${name} ${first?.sentence}`
  throw new HttpProblem(400, `${detail.slice(0, 1).toUpperCase()}${detail.slice(1)}`, {
    code: "invalid_request",
    errors,
  })
}

const parts = { params: "the path", query: "the query", body: "the body" }

function problemOf(error: unknown): HttpProblem {
  if (error instanceof HttpProblem) return error
  if (error instanceof OrganisationError)
    return new HttpProblem(error.code.endsWith("_not_found") ? 404 : 422, error.message, { code: error.code })
  if (error instanceof StoreUnavailable) return new HttpProblem(503, error.message, { code: "store_unavailable" })
  return new HttpProblem(500, `This is a mistake in Quartermaster, please report it: ${errorMessage(error)}`, {
    code: "internal",
  })
}

function replyProblem(_context: Context, found: HttpProblem): Response {
  const headers = { ...plain, "content-type": "application/problem+json", ...found.headers }
  return new Response(JSON.stringify(found), { status: found.status, headers })
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
