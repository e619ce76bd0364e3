// Loaded before a peer that would listen on every interface: nothing of a benchmark is reached from outside.
import { Server } from "node:net"

const listen = Server.prototype.listen
Server.prototype.listen = function (...given) {
  if (typeof given[0] === "number" && typeof given[1] !== "string") given.splice(1, 0, "127.0.0.1")
  else if (typeof given[0] === "object" && given[0] !== null && given[0].host === undefined) {
    given[0] = { ...given[0], host: "127.0.0.1" }
  }
  return listen.apply(this, given)
}
