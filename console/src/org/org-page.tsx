import { useQuery } from "@tanstack/react-query"
import { Link, Outlet, useLocation } from "@tanstack/react-router"
import { moneyText } from "../chat/amounts.ts"
import { useWords } from "../words/words.tsx"
import { treeQuery } from "./queries.ts"
import look from "./org.module.css"

const tabs = [
  ["/organisation", "agents"],
  ["/organisation/roles", "roles"],
  ["/organisation/departments", "departments"],
  ["/organisation/people", "people"],
] as const

/** Shows the organisation: agents, roles, departments, people. */
export function OrganisationPage() {
  const words = useWords()
  const path = useLocation().pathname
  const { data } = useQuery(treeQuery)
  const isOpen = /^\/organisation\/(roles|agents)\/./.test(path)
  return (
    <main id="main" className={look["page"]} data-view={isOpen ? "card" : "list"}>
      <div className="head">
        <h1>{words.pages.organisation}</h1>
        <nav className="seg" aria-label={words.govern.org.view}>
          {tabs.map(([to, name]) => {
            const isHere = to === "/organisation" ? !/\/(roles|departments|people)/.test(path) : path.startsWith(to)
            return (
              <Link key={to} to={to} activeOptions={{ exact: true }} aria-current={isHere ? "page" : undefined}>
                {words.govern.org[name]}
              </Link>
            )
          })}
        </nav>
        <span className="grow" />
        {data !== undefined && (
          <span className="dim num wide-only">{words.govern.org.costToday(moneyText(data.cost))}</span>
        )}
      </div>
      <Outlet />
    </main>
  )
}
