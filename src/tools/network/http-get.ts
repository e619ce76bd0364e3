import { z } from "zod"
import { defineTool } from "../../schema/define-tool.ts"
import type { Pages, Web } from "../../platform/web/web-access.ts"
import { sendHttp, headers, output, requestPreview, url } from "./http-exchange.ts"

/** Sends a GET request and returns the response unchanged. */
export const httpGet = (web: Web, pages: Pages) =>
  defineTool({
    name: "http_get",
    group: "network",
    category: "network",
    description: "Get what is at an address by HTTP GET, as it is: for example JSON, or the source of a page.",
    effect: "network",
    idempotent: true,
    input: () => z.object({ url, headers }),
    output,
    touches: ({ url }) => [{ kind: "host", what: url }],
    preview: (input) => requestPreview({ ...input, method: "GET" }),
    execute: (input, context) => sendHttp({ ...input, method: "GET" }, { web, pages }, context),
  })
