import { expect, onTestFinished, test } from "vitest"
import { isRunning, stubServer, textOf } from "../testing/mcp/connections.ts"
import { sseServer, bothErasServer } from "../testing/mcp/http-servers.ts"
import { MCPClient } from "./client.ts"

function client(): MCPClient {
  const created = new MCPClient()
  onTestFinished(() => created.disconnect())
  return created
}

test("a client connects to a URL, lists and calls tools, and disconnects", async () => {
  const server = await bothErasServer()
  const mcp = client()
  await mcp.connect(server.url)
  expect((await mcp.listTools())[0]).toMatchObject({ name: "echo", inputSchema: { type: "object" } })
  expect(await mcp.callTool("echo", { text: "hello" })).toMatchObject({ content: [{ type: "text", text: "hello" }] })
  await mcp.disconnect()
  await expect(mcp.listTools()).rejects.toThrow("The client is not connected. Call connect first.")
})

test("a tool of a server has a name, a description and the schema of its input", async () => {
  const mcp = client()
  await mcp.connect({ command: process.execPath, args: [stubServer] })
  const [echo] = await mcp.listTools()
  expect(echo).toEqual({ name: "echo", description: "Does echo.", inputSchema: { type: "object" } })
})

test("a client connects with SSE if that is requested", async () => {
  const server = await sseServer()
  const mcp = client()
  await mcp.connect({ transport: "sse", url: server.url })
  expect(textOf(await mcp.callTool("echo", { text: "old" }))).toBe("old")
})

test("disconnecting ends a server that was started", async () => {
  const mcp = client()
  await mcp.connect({ transport: "stdio", command: process.execPath, args: [stubServer], name: "files" })
  expect(mcp.name).toBe("files")
  const pid = Number(textOf(await mcp.callTool("pid")))
  expect(isRunning(pid)).toBe(true)
  await mcp.disconnect()
  expect(isRunning(pid)).toBe(false)
})

test("a call can be cancelled, limited and watched", async () => {
  const mcp = client()
  await mcp.connect({ command: process.execPath, args: [stubServer] })
  const steps: number[] = []
  await mcp.callTool("progress", {}, { onProgress: ({ progress }) => steps.push(progress) })
  expect(steps).toEqual([1, 2, 3])
  await expect(mcp.callTool("slow", {}, { timeoutMs: 20 })).rejects.toMatchObject({ code: "timeout" })
  await expect(mcp.callTool("slow", {}, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "aborted" })
})

test("a client that cannot connect says why and is not connected", async () => {
  const mcp = client()
  await expect(mcp.connect("http://127.0.0.1:1/mcp")).rejects.toMatchObject({
    code: "upstream_unavailable",
    message: expect.stringContaining("nothing listens at its address") as string,
  })
  await expect(mcp.callTool("echo")).rejects.toThrow("not connected")
})
