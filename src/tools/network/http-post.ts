import { z } from "zod"
import { defineTool } from "../../model/define-tool.ts"
import type { Pages, Web } from "../../model/web.ts"
import { body, exchange, headers, output, requestText, url } from "./http-exchange.ts"

/** Posts to an address. Never repeated by itself. */
export const httpPost = (web: Web, pages: Pages) =>
  defineTool({
    name: "http_post",
    group: "network",
    category: "network",
    description: "Send a body to an address by HTTP POST. An object or a list is sent as JSON, a text as it is.",
    effect: "network",
    input: z.object({ url, body, headers }),
    output,
    touches: ({ url }) => [{ kind: "host", what: url }],
    preview: (input) => requestText({ ...input, method: "POST" }),
    execute: (input, context) => exchange({ ...input, method: "POST" }, { web, pages }, context),
  })
