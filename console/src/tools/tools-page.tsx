import { useQuery } from "@tanstack/react-query"
import { Link, Outlet } from "@tanstack/react-router"
import { useWords } from "../words/words.tsx"
import { serversQuery } from "./queries.ts"
import look from "./tools.module.css"

/** Tools: the playground, and the MCP servers with what they offer. */
export function ToolsPage() {
  const words = useWords()
  const { data: servers = [] } = useQuery(serversQuery)
  const toLookAt = servers.reduce((sum, { quarantined }) => sum + quarantined, 0)
  return (
    <main className="page" id="main">
      <div className={`head ${look["head-wrap"]}`}>
        <h1>{words.pages.tools}</h1>
        <nav className={`seg ${look["seg-a"]}`} aria-label={words.tools.view}>
          <Link
            to="/tools"
            activeOptions={{ exact: true, includeSearch: false }}
            activeProps={{ "aria-current": "page" }}
          >
            {words.tools.playground}
          </Link>
          <Link to="/tools/servers" activeProps={{ "aria-current": "page" }}>
            {words.tools.servers}
            {toLookAt > 0 && <span className="tag tag-ask">{words.tools.toLookAt(toLookAt)}</span>}
          </Link>
        </nav>
        <span className="grow" />
        <span id="head-side" className={look["head-side"]} />
      </div>
      <Outlet />
    </main>
  )
}
