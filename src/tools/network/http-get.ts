import { z } from "zod"
import { defineTool } from "../../model/define-tool.ts"
import type { Pages, Web } from "../../model/web.ts"
import { exchange, headers, output, requestText, url } from "./http-exchange.ts"

/** Gets what is at an address, as it is there. */
export const httpGet = (web: Web, pages: Pages) =>
  defineTool({
    name: "http_get",
    group: "network",
    category: "network",
    description: "Get what is at an address by HTTP GET, as it is: for example JSON, or the source of a page.",
    effect: "network",
    idempotent: true,
    input: z.object({ url, headers }),
    output,
    touches: ({ url }) => [{ kind: "host", what: url }],
    preview: (input) => requestText({ ...input, method: "GET" }),
    execute: (input, context) => exchange({ ...input, method: "GET" }, { web, pages }, context),
  })
