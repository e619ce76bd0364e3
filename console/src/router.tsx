import { createRootRoute, createRoute, createRouter, Outlet, redirect } from "@tanstack/react-router"
import { Frame } from "./frame/frame.tsx"
import { BrokenPage, NotFound } from "./frame/broken-page.tsx"
import { InboxPage } from "./inbox/inbox-page.tsx"
import { SignInPage } from "./frame/sign-in.tsx"

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
const cardRoute = createRoute({ getParentRoute: () => inboxRoute, path: "/$callId" })

export const router = createRouter({
  routeTree: rootRoute.addChildren([
    signInRoute,
    frameRoute.addChildren([startRoute, inboxRoute.addChildren([cardRoute])]),
  ]),
  defaultPreload: "intent",
  scrollRestoration: false,
})

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router
  }
}
