import { z } from "zod"
import { defineTool } from "../../schema/define-tool.ts"
import type { Pages, Web } from "../../platform/web/web-access.ts"
import { body, sendHttp, headers, output, requestPreview, url } from "./http-exchange.ts"

/** Sends a POST request. It is never retried. */
export const httpPost = (web: Web, pages: Pages) =>
  defineTool({
    name: "http_post",
    group: "network",
    category: "network",
    description: "Send a body to an address by HTTP POST. An object or a list is sent as JSON, a text as it is.",
    effect: "network",
    input: () => z.object({ url, body, headers }),
    output,
    touches: ({ url }) => [{ kind: "host", what: url }],
    preview: (input) => requestPreview({ ...input, method: "POST" }),
    execute: (input, context) => sendHttp({ ...input, method: "POST" }, { web, pages }, context),
  })
