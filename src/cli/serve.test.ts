import { expect, test } from "vitest"
import { runOver } from "./testing.ts"

test.each(["-1", "65536", "http", "1.5"])("'--port %s' is refused with what it takes", async (port) => {
  const { code, stderr } = await runOver({}, ["serve", `--port=${port}`])
  expect([code, stderr]).toEqual([2, `--port takes a number from 0 to 65535, and '${port}' is none.\n`])
})

test("where it cannot listen, the sentence that says why is all that is said", async () => {
  const serveHttp = () => Promise.reject(new Error("Port 1 cannot be listened on. Choose another."))
  expect(await runOver({}, ["serve"], { house: { serveHttp } })).toEqual({
    code: 1,
    stdout: "",
    stderr: "Port 1 cannot be listened on. Choose another.\n",
  })
})

test("-C anywhere but before everything else is refused", async () => {
  expect(await runOver({}, ["tools", "-C", "there"])).toMatchObject({
    code: 2,
    stderr: "-C comes first: qm -C <folder> <command>.\n",
  })
})
