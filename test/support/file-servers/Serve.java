// Serves the directory args[0]. URI.getPath() decodes once, and nothing else guards the directory.
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;

public class Serve {
  public static void main(String[] args) throws Exception {
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    server.createContext("/", exchange -> {
      Path file = Path.of(args[0] + exchange.getRequestURI().getPath());
      boolean found = Files.isRegularFile(file);
      byte[] body = found ? Files.readAllBytes(file) : new byte[0];
      exchange.sendResponseHeaders(found ? 200 : 404, body.length == 0 ? -1 : body.length);
      exchange.getResponseBody().write(body);
      exchange.close();
    });
    server.start();
    System.out.println(server.getAddress().getPort());
  }
}
