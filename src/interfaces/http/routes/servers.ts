import { z } from "zod"
import { errorMessage } from "../../../lib/error-message.ts"
import { endpoint, type Endpoint } from "./endpoint.ts"
import { HttpProblem, notFound } from "./problem.ts"

const tag = "MCP servers"

export const serverEndpoints: readonly Endpoint[] = [
  endpoint({
    method: "get",
    path: "/v1/servers",
    summary: "The MCP servers whose tools are offered, and how they are.",
    tag,
    scope: "read",
    answers: { 200: z.object({ items: z.array(z.looseObject({ name: z.string(), state: z.string() })) }) },
    handle: ({ api }) => ({ items: api.app.mcp.list() }),
  }),
  endpoint({
    method: "get",
    path: "/v1/servers/{name}/pins",
    summary: "The definitions of its tools that are trusted, and what it offers now.",
    tag,
    scope: "read",
    params: z.object({ name: z.string().min(1) }),
    answers: { 200: z.object({ items: z.array(z.looseObject({ tool: z.string(), state: z.string() })) }) },
    handle({ api: { app }, params: { name } }) {
      if (!app.mcp.list().some((server) => server.name === name)) throw notFound("MCP server", name)
      return { items: app.mcp.pins(name) }
    },
  }),
  endpoint({
    method: "post",
    path: "/v1/servers/{name}/trust",
    summary: "Trusts what the server offers now, as the caller saw it: all of it, or one tool.",
    tag,
    scope: "manage",
    params: z.object({ name: z.string().min(1) }),
    body: z.object({
      tool: z.string().min(1).optional(),
      shown: z.array(z.string()).describe("The hashes of the definitions that the person saw."),
    }),
    answers: { 200: z.object({ items: z.array(z.looseObject({ tool: z.string() })) }) },
    async handle({ api, caller, params, body }) {
      try {
        return { items: await api.app.mcp.trust(params.name, body.tool, caller.id, new Set(body.shown)) }
      } catch (error) {
        throw new HttpProblem(422, errorMessage(error), { code: "not_trusted" })
      }
    },
  }),
]
