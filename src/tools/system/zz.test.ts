import { test } from "vitest"
import { callbackAdapter } from "../../approval/callback.ts"
import { open } from "../../testing/open.ts"
test("x", async () => {
  const system = await open({}, { approvals: callbackAdapter({ onExecution: () => true }) })
  const set = (key: unknown, value: unknown) => system.call({ agentId: "operator", sessionId: "s1", tool: "set_env", input: { key, value } })
  for (const [k, v] of [["1A", "x"], ["Ä", "x"], ["A".repeat(129), "x"], ["__proto__.x", "x"], ["A", "x".repeat(32769)], ["A", 1], ["A", "a\u0000b"], ["_".repeat(128), "x".repeat(32768)], ["__proto__", "x"]] as const) {
    const b = performance.now()
    const r = await set(k, v)
    console.log(String(k).slice(0, 10), String(v).slice(0, 10), r.code, (performance.now() - b).toFixed(1))
  }
}, 100000)
