import com.sun.net.httpserver.Headers;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;

/** Who calls, whichever of the two ways told it: these headers, or {@link Assertions}. */
record Caller(String userId, String roleKey, String roleId, String dataScope, String name) {

    /**
     * Way 1, where only Postern can reach this service. On a route with access: public there is no
     * caller, and none of the headers: then this is null.
     */
    static Caller fromHeaders(Headers headers) {
        if (headers.getFirst("X-User-Id") == null) return null;
        return new Caller(
                read(headers, "X-User-Id"),
                read(headers, "X-Role-Key"),
                read(headers, "X-Role-Id"),
                read(headers, "X-Data-Scope"),
                read(headers, "X-User-Name"));
    }

    private static String read(Headers headers, String name) {
        String value = headers.getFirst(name);
        if (value == null) return "";
        // URLDecoder is for forms, where + is a space. Here + is +.
        return URLDecoder.decode(value.replace("+", "%2B"), StandardCharsets.UTF_8);
    }
}
