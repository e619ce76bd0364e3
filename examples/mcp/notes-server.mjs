// An ordinary MCP server with two tools, over stdio.
import { McpServer } from "@modelcontextprotocol/server"
import { serveStdio } from "@modelcontextprotocol/server/stdio"
import { z } from "zod"

const notes = new Map([["milk", "Buy milk."]])
const text = (value) => ({ content: [{ type: "text", text: value }] })

serveStdio(() => {
  const server = new McpServer({ name: "notes", version: "1.0.0" }, { capabilities: { tools: {} } })
  server.registerTool(
    "find",
    { description: "Find a note.", inputSchema: z.object({ name: z.string() }), annotations: { readOnlyHint: true } },
    ({ name }) => text(notes.get(name) ?? "There is no such note."),
  )
  server.registerTool(
    "forget",
    {
      description: "Delete a note.",
      inputSchema: z.object({ name: z.string() }),
      annotations: { destructiveHint: true },
    },
    ({ name }) => text(notes.delete(name) ? `Forgot ${name}.` : "There is no such note."),
  )
  return server
})
