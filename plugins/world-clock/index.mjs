// A module: definitions, and one function for all calls. The whole folder is the plugin.
import { isZone, offsetOf, timeIn } from "./zones.mjs"

let home = "UTC"

const zone = (description) => ({ type: "string", description })

export default {
  name: "world_clock",
  version: "1.0.0",
  toolGroupId: "world_clock",
  toolGroupDescription: "What time it is elsewhere.",

  /** Effects of the tools. A tool without an effect is sensitive: a person must approve each call. */
  toolOptions: { time_in: { effect: "none" }, hours_between: { effect: "none" } },

  init(_runtime, config) {
    home = config.home ?? "UTC"
    if (!isZone(home)) throw new Error(`'${home}' is no time zone. Set home to one such as Europe/Berlin.`)
  },

  getToolDefinitions() {
    return [
      {
        type: "function",
        function: {
          name: "time_in",
          description: "What time it is in a time zone.",
          parameters: { type: "object", properties: { zone: zone("A zone such as Asia/Shanghai; home if left out.") } },
        },
      },
      {
        type: "function",
        function: {
          name: "hours_between",
          description: "How many hours the clocks of two time zones are apart now.",
          parameters: {
            type: "object",
            properties: { from: zone("One zone."), to: zone("The other; home if left out.") },
            required: ["from"],
          },
        },
      },
    ]
  },

  /** A failure is a value with a code and a sentence for the model. */
  executeToolCall(_context, toolName, given) {
    const zones = [given.zone, given.from, given.to].filter((one) => one !== undefined)
    const unknown = zones.find((one) => !isZone(one))
    if (unknown !== undefined) {
      return { error: "unknown_zone", message: `'${unknown}' is no time zone. Use a name such as Europe/Berlin.` }
    }
    const now = new Date()
    if (toolName === "time_in") return { zone: given.zone ?? home, time: timeIn(given.zone ?? home, now) }
    const minutes = offsetOf(given.to ?? home, now) - offsetOf(given.from, now)
    return { from: given.from, to: given.to ?? home, hours: minutes / 60 }
  },

  shutdown() {
    home = "UTC"
  },
}
