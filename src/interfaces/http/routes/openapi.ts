import { OpenApiGeneratorV31, OpenAPIRegistry } from "@asteasolutions/zod-to-openapi"
import { z } from "zod"
import { endpoint, type Endpoint } from "./endpoint.ts"
import { localKeyHeader } from "../../../lib/local-key.ts"
import { problem } from "./schemas.ts"

/** Serves the OpenAPI document of these endpoints. */
export function openApiEndpoint(endpoints: readonly Endpoint[], version: string): Endpoint {
  let document: object | undefined
  return endpoint({
    method: "get",
    path: "/openapi.json",
    summary: "This document.",
    tag: "Server",
    scope: "nobody",
    answers: { 200: z.looseObject({}) },
    handle: () => (document ??= documentOf(endpoints, version)),
  })
}

function documentOf(endpoints: readonly Endpoint[], version: string): object {
  const registry = new OpenAPIRegistry()
  for (const each of endpoints) describe(registry, each)
  registry.registerComponent("securitySchemes", "bearer", { type: "http", scheme: "bearer" })
  return new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: "3.1.0",
    info: { title: "Quartermaster", version },
    security: [{ bearer: [] }],
  })
}

function describe(
  registry: OpenAPIRegistry,
  { method, path, summary, description, tag, scope, media, params, query, body, headers, answers }: Endpoint,
): void {
  const described = Object.entries(answers).map(([status, schema]) => [
    status,
    schema === undefined
      ? { description: "Done." }
      : { description: "The answer.", content: { [media ?? "application/json"]: { schema } } },
  ])
  registry.registerPath({
    method,
    path,
    summary,
    tags: [tag],
    ...(scope === "nobody" ? { security: [] } : {}),
    description: [scopeSentences[scope], description].filter((each) => each !== undefined).join(" "),
    request: {
      ...(params === undefined ? {} : { params }),
      ...(query === undefined ? {} : { query }),
      ...(headers === undefined ? {} : { headers }),
      ...(body === undefined ? {} : { body: { content: { "application/json": { schema: body } }, required: true } }),
    },
    responses: {
      ...Object.fromEntries(described),
      default: { description: "A problem.", content: { "application/problem+json": { schema: problem } } },
    },
  })
}

const scopeSentences: Readonly<Record<Endpoint["scope"], string | undefined>> = {
  nobody: undefined,
  local: `For programs of this machine's user: they read the key in the data folder and send it as ${localKeyHeader}.`,
  any: "For everybody who is signed in.",
  read: "Needs the scope read.",
  call: "Needs the scope call.",
  approve: "Needs the scope approve.",
  manage: "Needs the scope manage.",
}
