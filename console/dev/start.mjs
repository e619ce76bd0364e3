// Serves the console from its sources. It expects a server at QM_SERVER (http://127.0.0.1:7420 if unset); with --mock it
// plays one.
import { createServer } from "vite"

const mode = process.argv.includes("--mock") ? "mock" : "development"
const server = await createServer({
  configFile: "console/vite.config.ts",
  mode,
  server: { host: "127.0.0.1", port: 5199 },
})
await server.listen()
server.printUrls()
