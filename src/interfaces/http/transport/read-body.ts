import type { IncomingMessage } from "node:http"
import { bodyTooLong, HttpProblem } from "../routes/problem.ts"

/** Reads the whole body of a request. Rejects with a problem for one that is encoded or longer than `maxBytes`. */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const { "content-encoding": encoding = "identity", "content-length": announced = 0 } = request.headers
  if (encoding !== "identity") return refuse(request, bodyEncoded(encoding))
  if (Number(announced) > maxBytes) return refuse(request, bodyTooLong(maxBytes))
  return new Promise((resolve, reject) => {
    let first: Buffer | undefined
    let more: Buffer[] | undefined
    let length = 0
    const onData = (chunk: Buffer) => {
      length += chunk.length
      if (length > maxBytes) {
        request.off("data", onData)
        request.off("end", onEnd)
        refuse(request, bodyTooLong(maxBytes)).catch(reject)
        return
      }
      if (first === undefined) first = chunk
      else (more ??= [first]).push(chunk)
    }
    const onEnd = () => resolve(more === undefined ? (first ?? Buffer.alloc(0)) : Buffer.concat(more, length))
    request.on("data", onData)
    request.on("end", onEnd)
  })
}

/** Lets the rest of the body pass unread, so that the answer arrives. */
function refuse(request: IncomingMessage, problem: HttpProblem): Promise<never> {
  request.resume()
  return Promise.reject(problem)
}

function bodyEncoded(encoding: string): HttpProblem {
  const sentence = `The body is encoded as '${encoding.slice(0, 50)}'. Send it without a content encoding.`
  return new HttpProblem(415, sentence, { code: "body_encoded" })
}
