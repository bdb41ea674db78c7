import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

/** javac *.java && java Main (Java 17 or later; nothing to install) */
final class Main {
    public static void main(String[] args) throws IOException {
        Assertions assertions =
                new Assertions(
                        setting("JWKS_URL", "http://127.0.0.1:9100/.well-known/jwks.json"),
                        setting("ISSUER", "postern"),
                        setting("AUDIENCE", "orders"));
        int port = Integer.parseInt(setting("PORT", "8080"));
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
        server.createContext("/", exchange -> answer(exchange, assertions));
        server.start();
    }

    private static void answer(HttpExchange exchange, Assertions assertions) throws IOException {
        String asserted;
        int status = 200;
        try {
            String header = exchange.getRequestHeaders().getFirst("X-Postern-Assertion");
            asserted = json(assertions.verify(header == null ? "" : header));
        } catch (Exception error) {
            status = 401;
            asserted = "{\"refused\":" + Json.quoted(String.valueOf(error.getMessage())) + "}";
        }
        String told = json(Caller.fromHeaders(exchange.getRequestHeaders()));
        byte[] body =
                ("{\"asserted\":" + asserted + ",\"headers\":" + told + "}\n")
                        .getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(status, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    private static String json(Caller caller) {
        if (caller == null) return "null";
        return String.format(
                "{\"userId\":%s,\"roleKey\":%s,\"roleId\":%s,\"dataScope\":%s,\"name\":%s}",
                Json.quoted(caller.userId()),
                Json.quoted(caller.roleKey()),
                Json.quoted(caller.roleId()),
                Json.quoted(caller.dataScope()),
                Json.quoted(caller.name()));
    }

    private static String setting(String name, String fallback) {
        String value = System.getenv(name);
        return value == null || value.isEmpty() ? fallback : value;
    }
}
