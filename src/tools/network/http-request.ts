import { z } from "zod"
import { defineTool } from "../../schema/define-tool.ts"
import type { Pages, Web } from "../../platform/web/web-access.ts"
import { body, sendHttp, headers, output, requestPreview, url } from "./http-exchange.ts"

/** Sends any HTTP request. The host lists apply to its address. */
export const httpRequest = (web: Web, pages: Pages) =>
  defineTool({
    name: "http_request",
    group: "network",
    category: "network",
    description:
      "Send an HTTP request and get status, headers and body. Redirects are followed on the same host only; one to another host is told in redirect.",
    effect: "network",
    timeoutMs: 600_000,
    input: () =>
      z.object({
        url,
        method: z
          .enum(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
          .default("GET")
          .describe("The method; GET when left out"),
        headers,
        body,
        timeoutMs: z
          .number()
          .int()
          .min(1)
          .max(600_000)
          .default(30_000)
          .describe("Milliseconds the whole answer may take"),
      }),
    output,
    touches: ({ url }) => [{ kind: "host", what: url }],
    preview: (input) => requestPreview(input),
    execute: (input, context) => sendHttp(input, { web, pages }, context),
  })
