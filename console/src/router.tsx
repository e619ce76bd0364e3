import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from "@tanstack/react-router"
import { Frame } from "./frame/frame.tsx"
import { BrokenPage, NotFound } from "./frame/broken-page.tsx"
import { InboxPage } from "./inbox/inbox-page.tsx"
import { SignInPage } from "./frame/sign-in.tsx"

/** The values of an address that are texts and not empty. */
function texts<const Name extends string>(
  given: Record<string, unknown>,
  names: readonly Name[],
): { [N in Name]?: string } {
  const found = names.flatMap((name) => {
    const value = given[name]
    return (typeof value === "string" || typeof value === "number") && value !== "" ? [[name, String(value)]] : []
  })
  return Object.fromEntries(found) as { [N in Name]?: string }
}

const rootRoute = createRootRoute({ component: Outlet, notFoundComponent: NotFound, errorComponent: BrokenPage })

const signInRoute = createRoute({ getParentRoute: () => rootRoute, path: "/signin", component: SignInPage })

/** Pages inside the frame are for somebody who is signed in. */
const frameRoute = createRoute({ getParentRoute: () => rootRoute, id: "frame", component: Frame })

const startRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/inbox" })
  },
})
const inboxRoute = createRoute({ getParentRoute: () => frameRoute, path: "/inbox", component: InboxPage })
const cardRoute = createRoute({
  getParentRoute: () => inboxRoute,
  path: "/$callId",
  // `one` opens a card alone that stands among others of its kind.
  validateSearch: (given) => texts(given, ["one"]),
})

const chatRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/chat",
  validateSearch: (given) => texts(given, ["begin"]),
  component: lazyRouteComponent(() => import("./chat/chat-page.tsx"), "ChatPage"),
})
/** Only names the conversation: the page is the same. */
const conversationRoute = createRoute({ getParentRoute: () => chatRoute, path: "/$chatId" })

const documentsRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/documents",
  validateSearch: (given) => texts(given, ["path"]),
  component: lazyRouteComponent(() => import("./documents/documents-page.tsx"), "DocumentsPage"),
})

const toolsRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/tools",
  component: lazyRouteComponent(() => import("./tools/tools-page.tsx"), "ToolsPage"),
})
const playgroundRoute = createRoute({
  getParentRoute: () => toolsRoute,
  path: "/",
  validateSearch: (given) => texts(given, ["tool", "version", "layer", "agent", "from"]),
  component: lazyRouteComponent(() => import("./tools/playground.tsx"), "Playground"),
})
const serversRoute = createRoute({
  getParentRoute: () => toolsRoute,
  path: "/servers",
  component: lazyRouteComponent(() => import("./tools/servers.tsx"), "Servers"),
})
const organisationRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/organisation",
  component: lazyRouteComponent(() => import("./org/org-page.tsx"), "OrganisationPage"),
})
const agentsRoute = createRoute({
  getParentRoute: () => organisationRoute,
  path: "/",
  component: lazyRouteComponent(() => import("./org/agents.tsx"), "Agents"),
})
const agentRoute = createRoute({
  getParentRoute: () => organisationRoute,
  path: "/agents/$agentId",
  component: lazyRouteComponent(() => import("./org/agents.tsx"), "Agents"),
})
const rolesRoute = createRoute({
  getParentRoute: () => organisationRoute,
  path: "/roles",
  component: lazyRouteComponent(() => import("./org/roles.tsx"), "Roles"),
})
/** Only names the role: the page is the same. */
const roleRoute = createRoute({ getParentRoute: () => rolesRoute, path: "/$roleId" })
const departmentsRoute = createRoute({
  getParentRoute: () => organisationRoute,
  path: "/departments",
  component: lazyRouteComponent(() => import("./org/departments.tsx"), "Departments"),
})
const rulesRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/rules",
  validateSearch: (given) => texts(given, ["tab", "id"]),
  component: lazyRouteComponent(() => import("./rules/rules-page.tsx"), "RulesPage"),
})
const activityRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/activity",
  validateSearch: (given) => texts(given, ["agent", "tool", "verdict"]),
  component: lazyRouteComponent(() => import("./activity/activity-page.tsx"), "ActivityPage"),
})
const peopleRoute = createRoute({
  getParentRoute: () => organisationRoute,
  path: "/people",
  component: lazyRouteComponent(() => import("./people/people-page.tsx"), "PeoplePage"),
})
const auditRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/audit",
  validateSearch: (given) => texts(given, ["agent", "tool", "ending", "task", "last", "from", "to"]),
  component: lazyRouteComponent(() => import("./audit/audit-page.tsx"), "AuditPage"),
})
const callRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: "/audit/$callId",
  component: lazyRouteComponent(() => import("./audit/call-page.tsx"), "CallPage"),
})

export const router = createRouter({
  routeTree: rootRoute.addChildren([
    signInRoute,
    frameRoute.addChildren([
      startRoute,
      inboxRoute.addChildren([cardRoute]),
      chatRoute.addChildren([conversationRoute]),
      documentsRoute,
      toolsRoute.addChildren([playgroundRoute, serversRoute]),
      organisationRoute.addChildren([
        agentsRoute,
        agentRoute,
        rolesRoute.addChildren([roleRoute]),
        departmentsRoute,
        peopleRoute,
      ]),
      rulesRoute,
      activityRoute,
      auditRoute,
      callRoute,
    ]),
  ]),
  defaultPreload: "intent",
  scrollRestoration: false,
})

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router
  }
}
