/** Names of the cookie of the console, over plain HTTP and over TLS. */
export const consoleCookies = { plain: 'postern-console', secure: '__Host-postern-console' }
