import java.math.BigInteger;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.RSAPublicKeySpec;
import java.security.spec.X509EncodedKeySpec;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/**
 * Way 2, anywhere: verify X-Postern-Assertion and take nothing from other headers. With Spring, the
 * same is a NimbusJwtDecoder with validators for typ, iss and aud.
 */
final class Assertions {
    private record Key(PublicKey key, String algorithm) {}

    private final HttpClient http =
            HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(3)).build();
    private final URI jwks;
    private final String issuer;
    private final String audience;
    private Map<String, Key> keys = Map.of();
    private Instant askedAt = Instant.MIN;

    Assertions(String jwksUrl, String issuer, String audience) {
        this.jwks = URI.create(jwksUrl);
        this.issuer = issuer;
        this.audience = audience;
    }

    /** Throws unless the assertion is genuine, for this service, and still valid. */
    Caller verify(String assertion) throws Exception {
        String[] parts = assertion.split("\\.", -1);
        if (parts.length != 3) throw new GeneralSecurityException("no assertion");
        Map<String, Object> header = Json.object(text(parts[0]));
        if (!"postern-assertion+jwt".equals(header.get("typ"))) {
            throw new GeneralSecurityException("no assertion");
        }

        // The key decides how it is used; what the assertion says can only agree.
        Key key = find(String.valueOf(header.get("kid")));
        if (!key.algorithm().equals(header.get("alg"))) {
            throw new GeneralSecurityException("another algorithm than that of the key");
        }
        Signature signature = Signature.getInstance(javaName(key.algorithm()));
        signature.initVerify(key.key());
        signature.update((parts[0] + "." + parts[1]).getBytes(StandardCharsets.US_ASCII));
        if (!signature.verify(bytes(parts[2]))) {
            throw new GeneralSecurityException("wrong signature");
        }

        Map<String, Object> claims = Json.object(text(parts[1]));
        if (!issuer.equals(claims.get("iss")) || !audience.equals(claims.get("aud"))) {
            throw new GeneralSecurityException("not for us");
        }
        if (!(claims.get("exp") instanceof Number ends)
                || Instant.now().getEpochSecond() > ends.longValue() + 5) {
            throw new GeneralSecurityException("expired");
        }
        return new Caller(
                (String) claims.get("sub"),
                (String) claims.get("role_key"),
                (String) claims.get("role_id"),
                (String) claims.get("data_scope"),
                (String) claims.get("name"));
    }

    /** Asks again for a kid that it does not know: keys are rotated. At most every 10 seconds. */
    private synchronized Key find(String kid) throws Exception {
        if (!keys.containsKey(kid) && Instant.now().minusSeconds(10).isAfter(askedAt)) {
            askedAt = Instant.now();
            HttpRequest request =
                    HttpRequest.newBuilder(jwks).timeout(Duration.ofSeconds(3)).build();
            String body = http.send(request, BodyHandlers.ofString()).body();
            Map<String, Key> found = new HashMap<>();
            for (Object each : (List<?>) Json.object(body).get("keys")) {
                @SuppressWarnings("unchecked")
                Map<String, String> jwk = (Map<String, String>) each;
                found.put(jwk.get("kid"), new Key(publicKey(jwk), jwk.get("alg")));
            }
            keys = found;
        }
        Key key = keys.get(kid);
        if (key == null) throw new GeneralSecurityException("unknown key");
        return key;
    }

    private static String javaName(String algorithm) throws GeneralSecurityException {
        return switch (algorithm) {
            case "ES256" -> "SHA256withECDSAinP1363Format";
            case "EdDSA" -> "Ed25519";
            case "RS256" -> "SHA256withRSA";
            default -> throw new GeneralSecurityException("unknown algorithm");
        };
    }

    /** The bytes before the numbers of a key in its X.509 form (RFC 5480, RFC 8410). */
    private static final String P256 = "3059301306072a8648ce3d020106082a8648ce3d03010703420004";

    private static final String ED25519 = "302a300506032b6570032100";

    private static PublicKey publicKey(Map<String, String> jwk) throws GeneralSecurityException {
        switch (jwk.get("alg")) {
            case "ES256":
                return encoded("EC", P256, bytes(jwk.get("x")), bytes(jwk.get("y")));
            case "EdDSA":
                return encoded("Ed25519", ED25519, bytes(jwk.get("x")));
            default:
                BigInteger modulus = new BigInteger(1, bytes(jwk.get("n")));
                BigInteger exponent = new BigInteger(1, bytes(jwk.get("e")));
                return KeyFactory.getInstance("RSA")
                        .generatePublic(new RSAPublicKeySpec(modulus, exponent));
        }
    }

    private static PublicKey encoded(String kind, String prefix, byte[]... numbers)
            throws GeneralSecurityException {
        StringBuilder hex = new StringBuilder(prefix);
        for (byte[] number : numbers) hex.append(HexFormat.of().formatHex(number));
        byte[] key = HexFormat.of().parseHex(hex);
        return KeyFactory.getInstance(kind).generatePublic(new X509EncodedKeySpec(key));
    }

    private static byte[] bytes(String part) {
        return Base64.getUrlDecoder().decode(part);
    }

    private static String text(String part) {
        return new String(bytes(part), StandardCharsets.UTF_8);
    }
}
